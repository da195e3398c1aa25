"""python -m dpcourse: the commands, where no `dpcourse` is on the path."""

import sys

from dpcourse.cli import main

sys.exit(main())
