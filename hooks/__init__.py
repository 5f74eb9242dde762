"""What other tools load to work with kbuild; installed as `kbuild_hooks`. Python 3.8 until a build really starts."""
