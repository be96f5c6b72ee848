"""The packages: `kgroups` and, below it, the folders with an `__init__.py`."""

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
    package_dir={"kgroups": "kgroups"}
    | {f"kgroups.{folder}": folder for folder in (*FOLDERS, "completions")},
)
