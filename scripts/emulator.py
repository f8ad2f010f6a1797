"""A small Linux machine with AVX-512, emulated by Bochs: makes its image, starts it, reads what it says.

Steps are shell commands. What they print comes back through the second serial port, between the lines
"@@ begin N" and "@@ end N CODE"; the kernel has the first one to itself.
"""
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

# A metapackage: it depends on the current kernel for virtual machines, which is small and has serial ports built in.
KERNEL = "linux-image-cloud-amd64"
ISOLINUX = Path("/usr/lib/ISOLINUX/isolinux.bin")
ISOLINUX_MODULE = Path("/usr/lib/syslinux/modules/bios/ldlinux.c32")
BIOS = Path("/usr/share/bochs/BIOS-bochs-latest")
VGA_BIOS = Path("/usr/share/vgabios/vgabios.bin")

# What is used, and the Debian package that has it.
COMMANDS = {"bochs": "bochs", "busybox": "busybox-static", "cpio": "cpio", "xorriso": "xorriso", "strip": "binutils",
            "ldd": "libc-bin", "apt-get": "apt", "apt-cache": "apt", "dpkg": "dpkg"}
FILES = {ISOLINUX: "isolinux", ISOLINUX_MODULE: "syslinux-common", BIOS: "bochsbios", VGA_BIOS: "vgabios"}

# The newest model of Bochs 2.7 that boots: later ones hang while Linux sets up XSAVE. It has AVX-512 F, CD, DQ, BW, VL.
PROCESSOR = "corei7_skylake_x"
# Emulated seconds are counted in instructions: IPS of them make one. Nothing here depends on the time of day.
IPS = 50_000_000
KERNEL_ARGUMENTS = [
    "console=ttyS0,115200", "panic=1",
    # The compacted forms of XSAVE and PKRU do not behave in Bochs 2.7 as its CPUID says.
    "clearcpuid=pku,xsaves,xsavec",
    # Timers run by instructions, so calibrating one by another finds nothing that fits.
    "tsc=reliable", "tsc_early_khz=50000", "lpj=200000", "no_timer_check", "nowatchdog", "idle=halt",
    # Nothing to protect, no time to lose.
    "nokaslr", "mitigations=off", "random.trust_cpu=on", "cryptomgr.notests",
]
BOCHSRC = """\
display_library: rfb, options="timeout=0"
cpu: model={processor}, count=1, ips={ips}, reset_on_triple_fault=0, ignore_bad_msrs=1
memory: guest=1536, host=1536
romimage: file={bios}
vgaromimage: file={vga_bios}
ata0-master: type=cdrom, path=disc.iso, status=inserted
boot: cdrom
clock: sync=none
com1: enabled=1, mode=file, dev=console.txt
com2: enabled=1, mode=file, dev=results.txt
sound: driver=dummy
log: bochs.txt
panic: action=report
error: action=ignore
info: action=ignore
"""
INIT = """\
#!/bin/busybox sh
/bin/busybox mount -t proc none /proc
/bin/busybox --install -s /bin
mount -t sysfs none /sys
mount -t devtmpfs none /dev
export PATH=/bin HOME=/tmp {environment}
stty -F /dev/ttyS1 115200 raw
exec </dev/null >/dev/ttyS1 2>&1
cd {folder}
{steps}
echo '@@ done'
sleep 3  # until the last lines have left the serial port
poweroff -f
"""
GUEST_FOLDER = "/run"


class EmulatorError(Exception):
    """Something that is needed is missing, or cannot be made."""


def check_tools():
    """Fails by name if anything is missing."""
    missing = {f"{command} ({package})" for command, package in COMMANDS.items() if not shutil.which(command)}
    missing |= {f"{path} ({package})" for path, package in FILES.items() if not path.exists()}
    if missing:
        raise EmulatorError("missing, with the Debian package that has it: " + ", ".join(sorted(missing)) +
                            "\n`make emulate` installs them")


def run(command, **options):
    """The output of a command that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise EmulatorError(f"{shlex.join(map(str, command))}: exit code {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def kernel(folder):
    """The kernel of Debian's package, which is unpacked into the folder and not installed."""
    found = sorted(folder.glob("boot/vmlinuz-*"))
    if found:
        return found[-1]
    depends = re.search(r"Depends: (linux-image-\S+)", run(["apt-cache", "depends", KERNEL]))
    if not depends:
        raise EmulatorError(f"apt-cache knows no package {KERNEL}: try apt-get update")
    unfinished = folder.with_name(folder.name + ".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    run(["apt-get", "download", depends[1]], cwd=unfinished)
    package = next(unfinished.glob("*.deb"))
    run(["dpkg", "-x", package, unfinished])
    package.unlink()
    unfinished.rename(folder)
    return next(folder.glob("boot/vmlinuz-*"))


def libraries(program):
    """The shared libraries of a program, by the paths that its loader will look for."""
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", run(["ldd", program]))}


class Machine:
    """The image of a machine: programs in /bin with their libraries, and files."""

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        self.root = folder / "root"
        for name in ("bin", "dev", "proc", "sys", "tmp", GUEST_FOLDER.strip("/")):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        shutil.copy2(shutil.which("busybox"), self.root / "bin/busybox")

    def add_program(self, path):
        run(["strip", "-o", self.root / "bin" / path.name, path])
        for library in libraries(path):
            self.add(library, library)

    def add(self, source, place):
        """A file or folder, at an absolute path of the machine."""
        target = self.root / str(place).lstrip("/")
        if target.exists():
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)

    def start(self, steps, environment, vmlinuz):
        """Boots it. `steps`: (shell command, its environment) each."""
        self._write_init(steps, environment)
        self._write_disc(vmlinuz)
        (self.folder / "bochsrc").write_text(BOCHSRC.format(bios=BIOS, vga_bios=VGA_BIOS, processor=PROCESSOR, ips=IPS))
        # Debian's Bochs has its debugger built in, which waits for a command: c, continue.
        (self.folder / "continue").write_text("c\n")
        return Emulator(self.folder)

    def _write_init(self, steps, environment):
        lines = []
        for number, (command, its) in enumerate(steps):
            lines += [f"echo '@@ begin {number}'", f"{assignments(its)} sh -c {shlex.quote(command)}",
                      f"code=$?; echo; echo \"@@ end {number} $code\""]
        init = self.root / "init"
        init.write_text(INIT.format(environment=assignments(environment), folder=GUEST_FOLDER, steps="\n".join(lines)))
        init.chmod(0o755)

    def _write_disc(self, vmlinuz):
        """A CD that boots: isolinux, the kernel, and the root as its initramfs."""
        names = "\n".join(str(path.relative_to(self.root)) for path in sorted(self.root.rglob("*")))
        archive = subprocess.run(["cpio", "--create", "--format=newc", "--owner=0:0", "--quiet"], cwd=self.root,
                                 input=names.encode(), capture_output=True, check=True).stdout
        disc = self.folder / "disc"
        disc.mkdir()
        (disc / "initrd").write_bytes(archive)
        for source, name in ((vmlinuz, "vmlinuz"), (ISOLINUX, "isolinux.bin"), (ISOLINUX_MODULE, "ldlinux.c32")):
            shutil.copyfile(source, disc / name)
        (disc / "isolinux.cfg").write_text("default linux\nlabel linux\n  kernel vmlinuz\n  append initrd=initrd " +
                                           " ".join(KERNEL_ARGUMENTS) + "\n")
        run(["xorriso", "-as", "mkisofs", "-o", self.folder / "disc.iso", "-b", "isolinux.bin", "-c", "boot.cat",
             "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table", disc])
        shutil.rmtree(disc)
        shutil.rmtree(self.root)


class Emulator:
    """A running machine. Its time is processor time, so that other load on this machine makes nothing late."""

    SILENCE = 90  # seconds without a word from a kernel that boots; a whole boot takes about 45

    def __init__(self, folder):
        self.folder, self.process = folder, None
        self._before = 0  # seconds of boots that hung
        self.boot()

    def boot(self):
        """Starts it, anew if it is running."""
        if self.process:
            self._before = self.seconds()
            self._kill()
        for name in ("console.txt", "results.txt"):
            (self.folder / name).unlink(missing_ok=True)
        self._read = 0  # bytes of the results
        self._console, self._heard = 0, self._before
        self._used = 0
        with (self.folder / "said.txt").open("w") as said:
            # In a session of its own, so that Ctrl-C reaches this program alone, which then ends the emulator.
            self.process = subprocess.Popen(["bochs", "-q", "-f", "bochsrc", "-rc", "continue"], cwd=self.folder,
                                            stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)

    def hangs(self):
        """Whether the kernel is silent for too long while it boots."""
        console = self.folder / "console.txt"
        size = console.stat().st_size if console.exists() else 0
        if size != self._console:
            self._console, self._heard = size, self.seconds()
        return self.seconds() - self._heard > self.SILENCE

    def seconds(self):
        """Processor time since the first boot."""
        stat = Path(f"/proc/{self.process.pid}/stat")
        if self.runs():  # of a process that has ended, the last answer holds
            user, system = stat.read_text().rpartition(")")[2].split()[11:13]
            self._used = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        return self._before + self._used

    def new_lines(self):
        """The whole lines that it has written since the last call."""
        results = self.folder / "results.txt"
        if not results.exists():
            return []
        with results.open("rb") as file:
            file.seek(self._read)
            text = file.read()
        text = text[:text.rfind(b"\n") + 1]
        self._read += len(text)
        return text.decode(errors="replace").replace("\r", "").splitlines()

    def runs(self):
        return self.process.poll() is None

    def last_words(self):
        """The end of the kernel's console, or of what Bochs says of itself if it did not come to that."""
        for name in ("console.txt", "said.txt"):
            path = self.folder / name
            if path.exists() and path.stat().st_size > 0:
                return path.read_text(errors="replace").splitlines()[-12:]
        return []

    def stop(self):
        """Ends it, if it still runs, and removes its image."""
        self._kill()
        (self.folder / "disc.iso").unlink(missing_ok=True)

    def _kill(self):
        self.process.kill()  # it does not react to SIGTERM, and has nothing to save
        self.process.wait()


def assignments(environment):
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in environment.items())
