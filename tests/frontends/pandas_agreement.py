#!/usr/bin/env python3
"""Programs over data frames: run by pandas, and converted and run by Ingot and ONNX Runtime, compared.

pandas_agreement.py --ingot PROGRAM --peers build/peers [--filter WORD]; exit code 77: something that it needs is not
here. pandas/programs.txt holds the programs; those of pandas/refused.txt must be refused at the place that stands
before them.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import pandas as pd
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

import agreement

SAMPLE = """a,b,n,t,f,u,s
1.5,0.25,1,red,True,banana,0
,-1.75,2,blue,False,apple,951782400
-2.0,3.5,3,,True,ban,1709164800
0.75,1.0,2,green,False,cabana,1709251199
4.0,-0.5,5,red,True,b,86399
,2.0,4,blue,True,a.a,-1
2.5,0.5,1,,False,Anna,1325376000
1.0,1.25,3,red,False,bea,4102444799
"""
HEAD = "import pandas as pd\nimport numpy as np\n"


def lines_of(file):
    with open(os.path.join(agreement.HERE, "pandas", file), encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines if line.strip() and not line.startswith("#")]


def program(body):
    return "def prepare(df):\n" + "".join(f"    {part.strip()}\n" for part in body.split("; "))


def by_pandas(source, frame):
    names = {"pd": pd, "np": np}
    exec(source, names)  # our own programs, in pandas/programs.txt
    made = names["prepare"](frame)
    return made.to_frame("result") if isinstance(made, pd.Series) else made


def inputs_of(frame, folder):
    made = {}
    for i, name in enumerate(frame.columns):
        values = frame[name]
        if values.dtype == object:
            values = values.fillna("").astype(str).to_numpy().astype("U")
        else:
            values = values.to_numpy()
        file = os.path.join(folder, f"in_{i}.npy")
        np.save(file, values.reshape(-1, 1))
        made[name] = (file, values.reshape(-1, 1))
    return made


def difference(name, wanted, got):
    if len(got.ravel()) != len(wanted):
        return f"{name} has {len(got.ravel())} rows instead of {len(wanted)}"
    got = got.ravel()
    if isinstance(wanted.dtype, pd.CategoricalDtype) and got.dtype.kind == "f":
        wanted = wanted.astype(float)
    if wanted.dtype.kind in "OUS" or isinstance(wanted.dtype, pd.CategoricalDtype) or got.dtype.kind in "OUS":
        texts = wanted.astype(object).where(wanted.notna(), "").astype(str).to_numpy()
        wrong = int((texts != got.astype(str)).sum())
        return f"{wrong} of {len(texts)} texts of {name} differ" if wrong else None
    a, b = wanted.astype(float).to_numpy(), got.astype(float)
    if (np.isnan(a) != np.isnan(b)).any():
        return f"{name} has gaps in other places"
    here = ~np.isnan(a)
    close = np.isclose(a[here], b[here], rtol=1e-13, atol=1e-15)
    return None if close.all() else f"{name}: {b[here][~close][0]!r} instead of {a[here][~close][0]!r}"


def differences(wanted, got, inputs):
    names = {name: f"{name}_out" if name in inputs else name for name in map(str, wanted.columns)}
    if sorted(names.values()) != sorted(got):
        return f"the columns are {sorted(got)} instead of {sorted(names.values())}"
    found = [difference(name, wanted.iloc[:, i], got[names[name]]) for i, name in enumerate(map(str, wanted.columns))]
    return "; ".join(one for one in found if one)


def outcome(options, onnx, body, folder):
    import sklearn_agreement as shared
    sample = os.path.join(folder, "sample.csv")
    frame = pd.read_csv(sample)
    wanted = by_pandas(program(body), frame.copy())
    with open(os.path.join(folder, "prepare.py"), "w", encoding="utf-8") as file:
        file.write(HEAD + program(body))
    model = os.path.join(folder, "prepare.onnx")
    failed = shared.run([options.ingot, "convert", os.path.join(folder, "prepare.py"), "--data", sample, "-o", model,
                         "--no-verify"])
    if failed:
        return "refused", failed
    with tempfile.TemporaryDirectory() as out:
        inputs = inputs_of(frame, out)
        used = agreement.json.loads(agreement.inspected(options.ingot, model, "--json"))["inputs"]
        inputs = {one["name"]: inputs[one["name"]] for one in used}
        os.mkdir(os.path.join(out, "got"))
        failed, got = shared.in_ingot(options, model, inputs, os.path.join(out, "got"))
        if failed:
            return "fails", "in Ingot: " + failed
        differs = differences(wanted, got, frame.columns)
        if differs:
            return "differs", "in Ingot: " + differs
        failed, got = shared.in_onnx_runtime(onnx, model, inputs, out)
        if failed:
            return "fails", "in ONNX Runtime: " + failed
        differs = differences(wanted, got, frame.columns)
        return ("differs", "in ONNX Runtime: " + differs) if differs else ("agrees", "")


def refused(options, line, folder):
    """What is wrong with how a program is refused; None if nothing is."""
    place, body = line.split(": ", 1)
    row, column = place.lstrip("=").split()
    file = os.path.join(folder, "prepare.py")
    with open(file, "w", encoding="utf-8") as out:
        out.write(HEAD + program(body))
    done = subprocess.run([options.ingot, "convert", file, "--data", os.path.join(folder, "sample.csv"), "-o",
                           os.path.join(folder, "out.onnx"), "--no-verify"], capture_output=True, text=True, check=False)
    if done.returncode != 4:
        return f"exit code {done.returncode} instead of 4: {done.stderr}"
    others = place.startswith("=") and done.stderr.count(", column ") > 1
    return None if f"line {row}, column {column}:" in done.stderr and not others else done.stderr


def main():
    options = agreement.parsed_arguments("")
    agreement.require(options.ingot, options.peers)
    tally = agreement.Tally({}, True, options.verbose)
    onnx = agreement.Onnx(options.peers)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "sample.csv"), "w", encoding="utf-8") as file:
            file.write(SAMPLE)
        for body in lines_of("programs.txt"):
            if options.filter not in body:
                continue
            kind, why = outcome(options, onnx, body, folder)
            tally.add(kind, body, why, body)
            if kind != "agrees":
                tally.unexpected.append(f"{body}: {kind}: {why}")
        for line in lines_of("refused.txt"):
            if options.filter not in line:
                continue
            wrong = refused(options, line, folder)
            tally.add("refused otherwise" if wrong else "refused as it must", line, wrong or "", line)
            if wrong:
                tally.unexpected.append(f"{line}: {wrong}")
    onnx.close()
    tally.finish()


if __name__ == "__main__":
    main()
