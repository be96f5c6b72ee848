"""Our package as Python workers of Spark get it that have none."""

import zipfile
from pathlib import Path


def write_package(folder: Path) -> Path:
    """A zip of `kgroups.assignors` and `kgroups.core`, for Python workers that have none.

    Only what runs on workers: assignors, and the modules of core without other rooms.
    """
    import kgroups.assignors
    import kgroups.core

    path = folder / "kgroups_workers.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        # `kgroups` has no file of its own: Python finds it in an archive by this entry alone.
        archive.writestr("kgroups/", "")
        for package in (kgroups.assignors, kgroups.core):
            root = Path(str(package.__file__)).parent
            base = package.__name__.replace(".", "/")
            sources = (path for kind in ("py", "txt", "json") for path in root.rglob(f"*.{kind}"))
            for source in sorted(sources):
                archive.write(source, f"{base}/{source.relative_to(root).as_posix()}")
    return path
