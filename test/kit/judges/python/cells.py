"""Values as cells of the wire form (see wire.ts): texts for all that is exact, numbers for doubles."""

import datetime
import decimal
import math
import uuid


def double_cell(value):
    """A JSON number, or the name of what JSON has no number for."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 and math.copysign(1, value) < 0:
        return "-0"
    return value


def float_cell(value):
    cell = double_cell(value)
    return cell if isinstance(cell, str) else {"f": cell}


def scalar_cell(value):
    """A Python value whose type says enough."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return double_cell(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "0x" + bytes(value).hex()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, datetime.datetime):
        return instant(value)
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M:%S") + fraction(value.microsecond)
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"no text form for a {type(value).__name__}")


def instant(value):
    zone = ""
    if value.tzinfo is not None:
        value, zone = value.astimezone(datetime.timezone.utc), "Z"
    return value.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + fraction(value.microsecond) + zone


def fraction(microsecond):
    return "." + f"{microsecond:06d}".rstrip("0") if microsecond else ""
