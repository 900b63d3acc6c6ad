"""The sandboxes as Inspect knows them: providers ``benchwright/namespace`` and ``benchwright/docker``.

    spec = SandboxEnvironmentSpec("benchwright/namespace", WorkspaceConfig.from_image(image, limits))

One implementation of Inspect's interface over `benchwright.sandboxes.base.LiveWorkspace`.  What Inspect's interface
does not have, and our own tools and harness use, is in `base`.
"""
