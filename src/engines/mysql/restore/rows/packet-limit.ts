import type { ManifestTable } from '../../../../repository/manifest/manifest.ts';
import type { WarningEvent } from '../../../../results/events.ts';
import { UserError } from '../../../../runtime/errors.ts';
import { formatBytes } from '../../../../text/format.ts';
import { quoteName } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import type { Details } from '../../details.ts';

const MEGABYTE = 1024 * 1024;
/** No server takes more. */
const MOST_PACKET_BYTES = 1024 * MEGABYTE;

/** A session keeps the value that it began with. */
const limits = new WeakMap<MysqlSession, number>();

/** Returns the most bytes of a statement to this session, `max_allowed_packet`. */
export async function packetLimit(session: MysqlSession): Promise<number> {
  const known = limits.get(session);
  if (known !== undefined) return known;
  const [row] = await session.query<{ bytes: number | string }>('SELECT @@max_allowed_packet AS bytes');
  const limit = Number(row?.bytes ?? MEGABYTE);
  limits.set(session, limit);
  return limit;
}

export function knownPacketLimit(session: MysqlSession): number | null {
  return limits.get(session) ?? null;
}

/** A statement that the server would not take, and that was not sent to its end. */
export class StatementTooLong extends Error {
  override readonly name = 'StatementTooLong';
}

/** Ours, or the server's `ER_NET_PACKET_TOO_LARGE` and `ER_WARN_ALLOWED_PACKET_OVERFLOWED`. */
export function isPacketTooSmall(error: unknown): boolean {
  if (error instanceof StatementTooLong) return true;
  return error instanceof SqlError && [1153, 1301].includes(error.errno);
}

export interface PacketTooSmall {
  /** `max_allowed_packet` of the destination, where it is known. */
  limit: number | null;
  /** Bytes of the longest row, where they are known. */
  longest: number | null | undefined;
  /** Rows are sent as INSERT. */
  insert: boolean;
}

/** A row does not fit into a packet of the destination; names the setting and a value that is enough. */
export function packetTooSmall(table: string, { limit, longest, insert }: PacketTooSmall): UserError {
  const row = longest == null ? `A row of ${table}` : `The longest row of ${table} (${formatBytes(longest)})`;
  const value = limit === null ? '' : ` (${formatBytes(limit)})`;
  const setting = longest == null ? MOST_PACKET_BYTES : settingFor(longest);
  const others = insert ? ['set local_infile=ON there, so that rows are loaded by LOAD DATA'] : [];
  const raise = (limit ?? 0) >= MOST_PACKET_BYTES ? [] : [`SET GLOBAL max_allowed_packet = ${Number(setting)} there`];
  const ways = [...raise, ...others];
  return new UserError('row_too_long', `${row} does not fit into max_allowed_packet${value} of the destination`, {
    hint: `The destination is unchanged. ${ways.length === 0 ? 'No server takes a longer value: leave the table out' : `Run: ${ways.join(', or ')}`}. Then load again.`,
  });
}

/** Every quote may become two bytes. In whole megabytes, as servers take them. */
function settingFor(longest: number): number {
  return Math.min(MOST_PACKET_BYTES, (Math.floor((2 * longest) / MEGABYTE) + 1) * MEGABYTE);
}

/** Least bytes in a statement around a value: `_binary'',`. */
const AROUND_VALUE = 4;

export interface Longest {
  details: Pick<Details, 'data' | 'program'>;
  tables: ManifestTable[];
  limit: number;
  localInfile: boolean;
  /** The destination is MySQL, which applies this limit to JSON values, too. */
  boundsJson: boolean;
}

/**
 * Compares the longest rows with the destination's `max_allowed_packet`, before anything is made. As INSERT a row that
 * is longer cannot be loaded; LOAD DATA has no such bound, but for values of type JSON on MySQL, which is a warning.
 */
export function checkPacketLimit({ details, tables, limit, localInfile, boundsJson }: Longest): WarningEvent[] {
  return tables.flatMap(({ name, file }): WarningEvent[] => {
    const data = details.data[file.name];
    if (data?.longest_row === undefined) return [];
    // The client sends INSERT statements, whatever the server would take.
    const { program } = details;
    if (localInfile && !program) {
      if (!boundsJson || data.texts.length === 0 || data.longest_row < limit) return [];
      const { message, hint } = packetTooSmall(name, { limit, longest: data.longest_row, insert: false });
      return [{ event: 'warning', code: 'row_too_long', message: `${message}: JSON values may be refused. ${hint}` }];
    }
    const statement = insertHead(data).length + data.longest_row + AROUND_VALUE * data.columns.length;
    if (statement >= limit) throw packetTooSmall(name, { limit, longest: data.longest_row, insert: !program });
    return [];
  });
}

/** Returns the start of an INSERT, before its rows. */
export function insertHead({ table, columns }: { table: string; columns: string[] }): Buffer {
  return Buffer.from(`INSERT INTO ${quoteName(table)} (${columns.map(quoteName).join(', ')}) VALUES `);
}
