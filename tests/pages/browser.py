"""A headless Chromium, driven through its debugging pipe; Python's standard library only."""
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium")


class Browser:
    """One tab. Whatever the page complains of is in `complaints`."""

    def __init__(self, width=1200, height=800):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command_read, self.commands = os.pipe()
        self.answers, answer_write = os.pipe()

        def as_three_and_four():
            held_read, held_write = os.dup(command_read), os.dup(answer_write)
            os.dup2(held_read, 3)
            os.dup2(held_write, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={self.profile.name}",
             f"--window-size={width},{height}", "about:blank"],
            preexec_fn=as_three_and_four, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(command_read)
        os.close(answer_write)
        self.numbers, self.buffer, self.session, self.complaints = itertools.count(1), b"", None, []
        target = next(t for t in self.send("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(domain + ".enable")

    def work(self):
        """Seconds that all processes of the browser computed so far: where others compute too, clocks tell little."""
        parents, ticks = {}, {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue  # it has ended
            parents[int(name)], ticks[int(name)] = int(fields[1]), int(fields[11]) + int(fields[12])

        def is_ours(pid):
            while pid and pid != self.process.pid:
                pid = parents.get(pid, 0)
            return bool(pid)

        return sum(ticks[pid] for pid in ticks if is_ours(pid)) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def send(self, method, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next_message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def next_message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.buffer += more
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(params["entry"]["text"])
        if method == "Page.javascriptDialogOpening":
            self.complaints.append("dialog: " + params["message"])

    def value(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", str(result)))
        return result["result"].get("value")

    def open(self, address, seconds=30):
        """Returns how long it took until the page was ready."""
        self.complaints.clear()
        begin = time.monotonic()
        self.send("Page.navigate", url=address)
        self.wait("document.documentElement?.dataset.ready === 'yes'", seconds)
        return time.monotonic() - begin

    def wait(self, condition, seconds=10):
        end = time.monotonic() + seconds
        while not self.value(condition):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {condition}; {self.complaints}")
            time.sleep(0.02)

    def mouse(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        for number in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=number)
            self.mouse("mouseReleased", x, y, button="left", clickCount=number)

    def click_on(self, selector):
        box = self.value(f"(() => {{const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                         "return [b.left + b.width / 2, b.top + b.height / 2];})()")
        self.click(*box)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def key(self, key):
        code = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        code = code.get(key, 0)
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)
