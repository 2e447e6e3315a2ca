"""The house rules that a program can check."""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ssediag"
MODULES = sorted(PACKAGE.rglob("*.py"))
FORBIDDEN_NAMES = {"core", "common", "utils", "base", "helpers", "manager"}
# The contract's ids; those without a file yet come with later work.
MECHANISM_IDS = {
    "full-buffer", "compression", "head-hold", "tail-hold", "one-event-late", "size-flush",
    "time-flush", "coalescing", "throttle", "flow-control", "client-buffer", "idle-cut",
    "total-cut", "size-cut", "truncated", "not-a-stream", "connection-limit", "source-batching",
    "source-stall", "packet-loss", "probe-lag",
}  # fmt: skip
OTHER_TEST_FOLDERS = {"cases", "rules", "bench", "arena", "__pycache__"}


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def nodes(kind: type[ast.AST]) -> Iterator[tuple[Path, ast.AST]]:
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if isinstance(node, kind):
                yield path, node


def places(found: Iterable[tuple[Path, ast.AST]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}" for path, node in found]


def test_imports_go_one_way() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [path for path in PACKAGE.rglob("*") if path.stem in FORBIDDEN_NAMES] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_says_its_purpose_and_keeps_to_it(path: Path) -> None:
    assert ast.get_docstring(tree(path)), "no docstring"
    assert len(path.read_text("utf-8").splitlines()) <= 400, "more than one purpose?"


def test_no_function_is_longer_than_a_screen() -> None:
    long = [
        (path, node)
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for path, node in nodes(kind)
        if isinstance(node, kind) and (node.end_lineno or 0) - node.body[0].lineno >= 60
    ]  # the parameters aside: a command has as many as it has options
    assert places(long) == []


def test_only_the_command_line_and_the_lab_print() -> None:
    prints = [
        (path, node)
        for path, node in nodes(ast.Call)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        and path.relative_to(PACKAGE).parts[0] not in {"cli", "lab"}
    ]
    assert places(prints) == []


def test_the_package_asserts_nothing() -> None:
    assert places(nodes(ast.Assert)) == []


def test_imports_are_absolute() -> None:
    relative = [
        (path, node)
        for path, node in nodes(ast.ImportFrom)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert places(relative) == []


def test_no_import_is_for_the_type_checker_only() -> None:
    assert [path for path in MODULES if "TYPE_CHECKING" in path.read_text("utf-8")] == []


def test_a_broad_except_passes_the_exception_on_or_says_why() -> None:
    unexplained = [
        (path, node)
        for path, node in nodes(ast.ExceptHandler)
        if isinstance(node, ast.ExceptHandler)
        and catches_everything(node)
        and not passes_on(node)
        and "# why" not in path.read_text("utf-8").splitlines()[node.lineno - 1]
    ]
    assert places(unexplained) == []


def catches_everything(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(
        isinstance(node, ast.Name) and node.id in {"Exception", "BaseException"}
        for node in ast.walk(handler.type)
    )


def passes_on(handler: ast.ExceptHandler) -> bool:
    """Whether it only tidies up: ``except BaseException: …; raise``."""
    last = handler.body[-1]
    return handler.type is not None and isinstance(last, ast.Raise) and last.exc is None


def test_closed_choices_are_string_enums() -> None:
    plain = [
        (path, node)
        for path, node in nodes(ast.ClassDef)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name) and base.id == "Enum" for base in node.bases)
    ]
    assert places(plain) == []


def test_every_mechanism_file_is_named_after_its_id() -> None:
    for path in (PACKAGE / "catalogue" / "mechanisms").glob("*.toml"):
        assert tomllib.loads(path.read_text("utf-8"))["id"] == path.stem
        assert path.stem in MECHANISM_IDS


def test_the_tests_mirror_the_package() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    package = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    assert folders - package - OTHER_TEST_FOLDERS == set()


def test_no_file_names_the_machine_it_was_written_on() -> None:
    folders = tuple("/" + name + "/" for name in ("work", "farm", "root"))
    named = [
        str(path.relative_to(ROOT))
        for path in own_files()
        if any(folder in path.read_text("utf-8", "replace") for folder in folders)
    ]
    assert named == []


def own_files() -> Iterator[Path]:
    """Every file of the project, also before it is committed; what programs leave is not ours."""
    yield from (path for path in ROOT.iterdir() if path.is_file())
    for folder in ("ssediag", "tests", "fixtures", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path
