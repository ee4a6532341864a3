"""`sojourn ui`: runs, models and studies of one folder in a browser of this machine; needs the extra `sojourn[ui]`.

`work_folder` says what is in the folder and what is not; `guard` who may ask; `workbench` has the routes; `answers` is computed in worker
processes, so that a model that takes long holds up nobody. What the browser loads is in `page/`.
"""

from __future__ import annotations
