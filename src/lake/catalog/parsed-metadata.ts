import { gunzipSync } from 'node:zlib';
import { PipelineError } from '../../model/errors.ts';
import { parseMetadata, type TableMetadata } from '../iceberg/metadata.ts';

/** Tables whose last metadata is remembered. */
const TABLES_MAX = 32;

/**
 * Parses metadata files, and remembers the last one of each folder: a writer that commits every few seconds would
 * otherwise parse its own file of thousands of snapshots each time. A remembered one is only given out for the same bytes.
 */
export interface ParsedMetadata {
  /** @throws E_TABLE_METADATA, E_CONFIG_UNSUPPORTED */
  parse(file: MetadataFile): TableMetadata;
  /** Notes what a file that was just written holds. */
  remember(file: MetadataFile, metadata: TableMetadata): void;
}

export interface MetadataFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export function parsedMetadata(): ParsedMetadata {
  const last = new Map<string, { readonly file: MetadataFile; readonly metadata: TableMetadata }>();
  const remember: ParsedMetadata['remember'] = (file, metadata) => {
    const folder = folderOf(file.path);
    last.delete(folder);
    last.set(folder, { file, metadata });
    const [oldest] = last.keys();
    if (last.size > TABLES_MAX && oldest !== undefined) last.delete(oldest);
  };
  return {
    remember,
    parse: (file) => {
      const known = last.get(folderOf(file.path));
      if (known !== undefined && Buffer.compare(known.file.bytes, file.bytes) === 0) {
        return known.metadata;
      }
      const metadata = parseMetadata(textOf(file), file.path);
      remember(file, metadata);
      return metadata;
    },
  };
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

function textOf({ path, bytes }: MetadataFile): string {
  try {
    const gzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return new TextDecoder('utf-8', { fatal: true }).decode(gzipped ? gunzipSync(bytes) : bytes);
  } catch (cause) {
    throw new PipelineError('E_TABLE_METADATA', `${path} is damaged`, { cause });
  }
}
