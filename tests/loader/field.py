"""What a program does with kbuild, watched: `field.py` in an application's folder, archive or zipapp. Python 3.8.

The application holds `kbuild` and the package `fieldpkg` with a bundle, and this file as `__main__`; FIELD_SITE names
it where it is not on the path anyway. The driver is what the dynamic linker finds. An audit hook sees every file that
is opened and every library that is loaded; checks do not use `assert`, so that they hold under `-O` too. Prints "well".
"""

import os
import sys

if os.environ.get("FIELD_SITE"):
    sys.path.insert(0, os.environ["FIELD_SITE"])
ROOTS = [os.path.realpath(p) for p in (*sys.path[:1], sys.prefix, sys.base_prefix, os.path.dirname(os.__file__)) if p]
WRITES = {
    "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown",
    "os.utime", "os.mkfifo", "shutil.copyfile", "shutil.move", "shutil.rmtree", "tempfile.mkstemp", "tempfile.mkdtemp",
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect", "socket.bind", "urllib.Request",
}  # fmt: skip
opened, loaded, written = [], [], []


def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        opened.append(path)
        if flags is not None and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
            written.append((event, path, mode, flags))
    elif event == "ctypes.dlopen":
        loaded.append(arguments[0])
    elif event in WRITES:
        written.append((event, arguments))


def need(held, what):
    if not held:
        raise SystemExit("NOT WELL: %s" % (what,))


def is_own(path):
    """Whether a file belongs to the application or to Python."""
    real = os.path.realpath(os.fsdecode(path)) if isinstance(path, (str, bytes)) else ""
    return any(real == root or real.startswith(root + os.sep) for root in ROOTS)


def has_libcuda():
    with open("/proc/self/maps") as maps:
        return "libcuda" in maps.read()


def import_everything():
    import kbuild as kb

    for name in ("launch", "zeros", "array", "vec3", "float32", "kernel", "func", "struct", "get_devices", "sin"):
        getattr(kb, name)
    import fieldpkg.kernels

    import kbuild.loader.ahead
    import kbuild.loader.bundle
    import kbuild.loader.fastpath
    import kbuild.loader.resolve

    need(os.environ.get("FIELD_ARCHIVE", "") in kbuild.loader.bundle.__file__, kbuild.loader.bundle.__file__)
    return kb, fieldpkg.kernels


def watch_threads():
    """The threads that import while the driver starts, once there are some."""
    from kbuild.loader import ahead

    started, start = [], ahead.start_new_thread
    ahead.start_new_thread = lambda *given: started.append(given) or start(*given)
    return started


def launch(kb, kernels):
    data = kb.array([1.0, 2.0, 3.0])
    for _ in range(3):
        kb.launch(kernels.scale, dim=3, inputs=[data, 2.0])
    need(data.tolist() == [1.0, 2.0, 3.0], data.tolist())
    from kbuild import loader

    bundle = loader.open("fieldpkg")
    bundle["fieldpkg.kernels:scale"].launch(3, (data, 2.0))
    need(len(loader.explain(bundle, kb.get_devices()[0])) == 1, "explain")
    kb.synchronize()
    try:
        kb.launch(kernels.scale, dim=3, inputs=[data, "2"])
    except kb.LaunchError as error:
        need("parameter factor: wanted float32, got str '2'" in str(error), error)
    else:
        need(False, "a wrong argument was taken")


def main():
    sys.addaudithook(watch)
    kb, kernels = import_everything()
    strangers = [path for path in opened if not is_own(path)]
    need(not strangers, "importing opened %s" % strangers)
    need(not [name for name in loaded if name], "importing loaded %s" % loaded)  # ctypes itself opens None, the process
    need(not has_libcuda(), "importing opened the driver")
    del opened[:]
    started = watch_threads()
    launch(kb, kernels)
    is_archived = not os.path.exists(sys.modules["kbuild.loader.ahead"].__file__)
    need(len(started) == (not is_archived), "zipimport is not made for threads: %s" % started)
    need(loaded[-1] == "libcuda.so.1", loaded)
    need(not written, "written: %s" % written)
    strangers = [path for path in opened if not is_own(path) and path != "/proc/self/maps"]
    need(not strangers, "launching opened %s" % strangers)
    print("well")


main()
