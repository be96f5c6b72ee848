"""The packages: `public/` is `kgroups`, and below it are the folders with an `__init__.py`.

No folder of the checkout is called `kgroups`: Python would find it there before the installed one.
"""

from setuptools import find_packages, setup

FOLDERS = ("assignors", "cli", "core")

setup(
    packages=[
        "kgroups",
        *(
            f"kgroups.{name}"
            for name in find_packages(include=[*FOLDERS, *(f"{folder}.*" for folder in FOLDERS)])
        ),
        "kgroups.completions",  # files alone
    ],
    package_dir={"kgroups": "public"}
    | {f"kgroups.{folder}": folder for folder in (*FOLDERS, "completions")},
)
