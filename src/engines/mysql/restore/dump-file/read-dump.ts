import { stat } from 'node:fs/promises';
import type { DumpFile } from '../../../facets/dump-file.ts';
import { assertComplete, headOf, readDumpText } from '../../../shared/script/dump-text.ts';
import { LABELS, serverOf } from '../../catalog/introspect.ts';

const SCRIPT = /^-- (?:MySQL|MariaDB) dump \d/m;
const SERVER_VERSION = /^-- Server version\s+(\S+)/m;
const LAST_LINE = /^-- Dump completed\b/m;

/** Recognises a dump by mysqldump or mariadb-dump; `null` for another file. */
export async function readDump(path: string): Promise<DumpFile | null> {
  if (!(await stat(path)).isFile()) return null;
  const head = await headOf(readDumpText(path));
  if (!SCRIPT.test(head)) return null;
  const written = SERVER_VERSION.exec(head)?.[1];
  const server = serverOf(written ?? '');
  return { path, product: LABELS[server.flavour], format: 'sql', server_version: written ? server.version : null };
}

/** The SQL of a dump. Throws at its end where it is cut short. */
export function textOfDump({ path }: DumpFile): AsyncGenerator<Uint8Array> {
  return assertComplete(readDumpText(path), { path, lastLine: LAST_LINE });
}
