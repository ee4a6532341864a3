"""`python tools/reference`: writes the generated pages of docs/reference; with `--check` says whether they are current."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from reference.pages import main

sys.exit(main())
