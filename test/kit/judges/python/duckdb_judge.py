"""Reads Iceberg tables with DuckDB's own iceberg extension, in a DuckDB that is not the product's."""

import importlib
import pathlib
import re

import duckdb
from cells import double_cell, float_cell, scalar_cell
from judge_loop import serve

OFFLINE = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_unsigned_extensions": "false",
}
# Python's dates end at year 9999 and begin at year 1, so these types leave the engine as text.
TEMPORAL = re.compile(r"^(DATE|TIME|TIME_NS|TIMESTAMP.*)$")


def connect():
    connection = duckdb.connect(config=OFFLINE)
    for name in ("avro", "iceberg"):
        package = importlib.import_module(f"duckdb_extension_{name}")
        folder = pathlib.Path(package.__file__).parent / "extensions"
        (extension,) = folder.rglob(f"{name}.duckdb_extension")
        connection.execute(f"LOAD '{extension}'")
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET unsafe_enable_version_guessing = true")
    return connection


db = connect()


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def query(sql):
    relation = db.sql(sql)
    if relation is None:
        return {"columns": [], "rows": []}
    columns, types = relation.columns, relation.types
    # Positions, because two columns may share a name.
    names = ", ".join(f"c{i}" for i in range(len(columns)))
    texts = ", ".join(
        f"CAST(c{i} AS VARCHAR)" if TEMPORAL.match(str(kind)) else f"c{i}"
        for i, kind in enumerate(types)
    )
    rows = db.execute(f"SELECT {texts} FROM ({sql}\n) AS q({names})").fetchall()
    return {
        "columns": columns,
        "rows": [[cell(value, kind) for value, kind in zip(row, types)] for row in rows],
    }


def cell(value, kind):
    if value is None:
        return None
    if TEMPORAL.match(str(kind)) and isinstance(value, str):
        return temporal(value, str(kind))
    if kind.id == "float":
        return float_cell(value)
    if kind.id == "double":
        return double_cell(value)
    if kind.id == "list" or kind.id == "array":
        return {"list": [cell(v, kind.children[0][1]) for v in value]}
    if kind.id == "struct":
        return {"struct": [cell(value[name], child) for name, child in kind.children]}
    if kind.id == "map":
        (_, key), (_, item) = kind.children
        return {"map": [[cell(k, key), cell(v, item)] for k, v in value.items()]}
    return scalar_cell(value)


def temporal(text, kind):
    """DuckDB's text as ISO 8601: `2024-01-01 10:00:00.5+00` -> `2024-01-01T10:00:00.5Z`."""
    before_christ = text.endswith(" (BC)")
    text = text.removesuffix(" (BC)")
    if kind.startswith("TIME") and not kind.startswith("TIMESTAMP"):
        return text
    if text in ("infinity", "-infinity"):
        return text
    if kind == "TIMESTAMP WITH TIME ZONE":
        text = text.removesuffix("+00") + "Z"
    year, rest = text.split("-", 1)
    number = 1 - int(year) if before_christ else int(year)
    sign = "-" if number < 0 else "+" if number > 9999 else ""
    return sign + f"{abs(number):04d}-" + rest.replace(" ", "T")


def read(request):
    table = f"iceberg_scan({literal(request['table'])})"
    # A view would keep the files of its first use; a query that names them anew reads the table as it is now.
    return query(f"WITH t AS (SELECT * FROM {table}) {request['sql']}")


def snapshots(request):
    table = literal(request["table"])
    return query(f"SELECT * FROM iceberg_snapshots({table}) ORDER BY sequence_number")


serve({"read": read, "snapshots": snapshots, "query": lambda request: query(request["sql"])})
