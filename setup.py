"""The packages: the folders with an `__init__.py`, under the name that they are imported by."""

from setuptools import find_packages, setup

FOLDERS = ("assignors", "cli", "core")

setup(
    packages=[
        *(
            f"kgroups.{name}"
            for name in find_packages(include=[*FOLDERS, *(f"{folder}.*" for folder in FOLDERS)])
        ),
        "kgroups.completions",  # files alone
    ],
    package_dir={f"kgroups.{folder}": folder for folder in (*FOLDERS, "completions")},
)
