"""Use the course's masters with nbgrader as they are: copy this file to the root of your nbgrader course.

A master also holds wrong answers and words about the solution, for our own tests and for you. nbgrader does
not know them, so the preprocessor below drops them by their tags before students see a release.
"""

from nbconvert.preprocessors import TagRemovePreprocessor

c = get_config()  # noqa: F821  (nbgrader provides it)

c.TagRemovePreprocessor.enabled = True
c.TagRemovePreprocessor.remove_cell_tags = {"wrong-answer", "solution"}
c.GenerateAssignment.preprocessors.prepend([TagRemovePreprocessor])
c.ExecutePreprocessor.timeout = 60
