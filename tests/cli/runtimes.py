"""Which of the runtimes that Ingot verifies with are installed, and tests that need some of them."""
import json
import subprocess
import unittest


class Runtimes:
    def __init__(self, ingot):
        listed = subprocess.run([ingot, "verify", "--list-runtimes", "--json"], capture_output=True, text=True, check=True)
        self.installed = {runtime["name"] for runtime in json.loads(listed.stdout) if runtime["installed"]}

    def needs(self, *names):
        missing = [name for name in names if name not in self.installed]
        return unittest.skipIf(missing, f"not installed: {', '.join(missing)}; script/bootstrap installs them with npm")
