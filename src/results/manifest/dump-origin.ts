import * as v from 'valibot';
import { line } from './git-state.ts';

export const DUMP_FORMATS = ['custom', 'directory', 'tar', 'sql'] as const;

/** The dump of a vendor's program from which a snapshot was made. */
export const dumpOriginSchema = v.object({
  /** Name of the file or folder, without its path. */
  file: line,
  format: v.picklist(DUMP_FORMATS),
  bytes: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** Last change of the file. */
  modified_at: v.pipe(v.string(), v.isoTimestamp()),
  /** Server that was dumped, as the dump says; `null` where it does not. */
  server_version: v.nullable(line),
});

export type DumpOrigin = v.InferOutput<typeof dumpOriginSchema>;
