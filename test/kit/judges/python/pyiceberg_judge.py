"""Shows a table's metadata as PyIceberg understands it. It refuses to scan tables with equality deletes."""

import pathlib
import re

from cells import double_cell, float_cell, scalar_cell
from judge_loop import serve
from pyiceberg.table import StaticTable
from pyiceberg.types import DoubleType, FloatType, ListType, MapType, StructType


def latest_metadata(table):
    """The newest `v<N>.metadata.json` or `<N>-<uuid>.metadata.json`, gzipped or not."""
    folder = pathlib.Path(table) / "metadata"
    numbered = []
    for path in folder.glob("*.metadata.json"):
        found = re.match(r"v?(\d+)[.-]", path.name)
        if found:
            numbered.append((int(found.group(1)), str(path)))
    if not numbered:
        raise FileNotFoundError(f"no metadata.json in {folder}")
    return max(numbered)[1]


def load(request):
    path = latest_metadata(request["table"])
    return path, StaticTable.from_metadata(path)


def inspect(request):
    path, table = load(request)
    metadata = table.metadata
    return {
        "metadataFile": path,
        "formatVersion": metadata.format_version,
        "tableUuid": str(metadata.table_uuid),
        "location": metadata.location,
        "lastSequenceNumber": metadata.last_sequence_number,
        "lastColumnId": metadata.last_column_id,
        "currentSnapshotId": text(metadata.current_snapshot_id),
        "properties": metadata.properties,
        "schemas": [schema(s) for s in metadata.schemas],
        "schema": schema(table.schema()),
        "partitionSpecs": [spec(s) for s in metadata.partition_specs],
        "refs": {name: text(ref.snapshot_id) for name, ref in metadata.refs.items()},
        "snapshotLog": [
            {"snapshotId": text(e.snapshot_id), "timestampMs": e.timestamp_ms}
            for e in metadata.snapshot_log
        ],
        "metadataLog": [e.metadata_file for e in metadata.metadata_log],
        "snapshots": [snapshot(table, s) for s in metadata.snapshots],
    }


def text(number):
    return None if number is None else str(number)


def schema(s):
    return {
        "schemaId": s.schema_id,
        "identifierFieldIds": s.identifier_field_ids,
        "fields": [
            {"id": f.field_id, "name": f.name, "type": str(f.field_type), "required": f.required}
            for f in s.fields
        ],
    }


def spec(s):
    fields = [
        {"sourceId": f.source_id, "fieldId": f.field_id, "name": f.name, "transform": str(f.transform)}
        for f in s.fields
    ]
    return {"specId": s.spec_id, "fields": fields}


def snapshot(table, s):
    return {
        "snapshotId": text(s.snapshot_id),
        "parentSnapshotId": text(s.parent_snapshot_id),
        "sequenceNumber": s.sequence_number,
        "timestampMs": s.timestamp_ms,
        "schemaId": s.schema_id,
        "operation": s.summary.operation.value,
        "summary": s.summary.additional_properties,
        "manifestList": s.manifest_list,
        "manifests": [manifest(table, m) for m in s.manifests(table.io)],
    }


def manifest(table, m):
    return {
        "path": m.manifest_path,
        "length": m.manifest_length,
        "partitionSpecId": m.partition_spec_id,
        "content": m.content.name,
        "sequenceNumber": m.sequence_number,
        "minSequenceNumber": m.min_sequence_number,
        "addedSnapshotId": text(m.added_snapshot_id),
        "addedFiles": m.added_files_count,
        "existingFiles": m.existing_files_count,
        "deletedFiles": m.deleted_files_count,
        "addedRows": m.added_rows_count,
        "existingRows": m.existing_rows_count,
        "deletedRows": m.deleted_rows_count,
        "entries": [entry(e) for e in m.fetch_manifest_entry(table.io, discard_deleted=False)],
    }


def entry(e):
    file = e.data_file
    return {
        "status": e.status.name,
        "snapshotId": text(e.snapshot_id),
        "sequenceNumber": e.sequence_number,
        "fileSequenceNumber": e.file_sequence_number,
        "content": file.content.name,
        "filePath": file.file_path,
        "fileFormat": file.file_format.name,
        "partition": [scalar_cell(v) for v in file.partition],
        "recordCount": file.record_count,
        "fileSizeInBytes": file.file_size_in_bytes,
        "columnSizes": by_field(file.column_sizes),
        "valueCounts": by_field(file.value_counts),
        "nullValueCounts": by_field(file.null_value_counts),
        "nanValueCounts": by_field(file.nan_value_counts),
        "lowerBounds": by_field(file.lower_bounds, bytes.hex),
        "upperBounds": by_field(file.upper_bounds, bytes.hex),
        "splitOffsets": file.split_offsets,
        "equalityIds": file.equality_ids,
        "sortOrderId": file.sort_order_id,
    }


def by_field(values, form=lambda value: value):
    return None if values is None else {str(k): form(v) for k, v in values.items()}


def scan(request):
    _, table = load(request)
    fields = table.schema().fields
    rows = table.scan().to_arrow().to_pylist()
    return {
        "columns": [f.name for f in fields],
        "rows": [[cell(row[f.name], f.field_type) for f in fields] for row in rows],
    }


def cell(value, kind):
    if value is None:
        return None
    if isinstance(kind, FloatType):
        return float_cell(value)
    if isinstance(kind, DoubleType):
        return double_cell(value)
    if isinstance(kind, ListType):
        return {"list": [cell(v, kind.element_type) for v in value]}
    if isinstance(kind, StructType):
        return {"struct": [cell(value[f.name], f.field_type) for f in kind.fields]}
    if isinstance(kind, MapType):
        return {"map": [[cell(k, kind.key_type), cell(v, kind.value_type)] for k, v in value]}
    return scalar_cell(value)


serve({"inspect": inspect, "scan": scan})
