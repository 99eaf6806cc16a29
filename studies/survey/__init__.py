"""The survey: every installed client on every family, stored as records."""

from studies.survey.assignor_survey import SurveyPlan
from studies.survey.confirmed_hangs import Confirmed
from studies.survey.record_files import record_file
from studies.survey.survey_run import Surveyed, survey

__all__ = [
    "Confirmed",
    "SurveyPlan",
    "Surveyed",
    "record_file",
    "survey",
]
