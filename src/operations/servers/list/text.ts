import type { Column } from '../../../presentation/shapes/column.ts';
import type { Fact } from '../../../presentation/shapes/fact.ts';
import type { ServerRow } from '../../../results/running-servers.ts';
import { formatAge, formatBytes, formatTime } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';

export const NO_SERVERS = 'No servers. Start one: tool up TARGET';

export const NO_SERVER = 'No server is selected';
export const NO_SERVER_PASSWORD = 'Its password was shown once, at its start: another session started it';

export function serverColumns(now: Date): Column<ServerRow>[] {
  return [
    { title: 'TARGET', grows: true, essential: true, cell: ({ target }) => ({ text: printable(target) }) },
    ...targetServerColumns(now),
  ];
}

export function targetServerColumns(now: Date): Column<ServerRow>[] {
  return [
    { title: 'PORT', align: 'right', whole: true, essential: true, cell: ({ port }) => ({ text: String(port) }) },
    { title: 'SNAPSHOT', whole: true, dropRank: 3, cell: ({ snapshot }) => ({ text: snapshot }) },
    { title: 'AGE', whole: true, dropRank: 2, cell: (server) => ({ text: ageText(server, now) }) },
    { title: 'MEMORY', align: 'right', whole: true, dropRank: 1, cell: (server) => ({ text: memoryText(server) }) },
  ];
}

export function serverFacts(server: ServerRow, now: Date): { title: string; facts: Fact[] } {
  const { port, url, snapshot, created_at, detached } = server;
  return {
    title: `Server on port ${port}`,
    facts: [
      { name: 'URL', value: printable(url) },
      { name: 'Snapshot', value: snapshot },
      { name: 'Started', value: `${ageText(server, now)} (${formatTime(created_at)})` },
      { name: 'Memory', value: memoryText(server) },
      { name: 'Ends', value: detached ? 'by tool down' : 'with the program that started it, or by tool down' },
    ],
  };
}

/** `port 40123, 12 min ago, 45.2 MB; port …` */
export function serversText(servers: ServerRow[], now: Date): string {
  const each = servers.map((server) => `port ${server.port}, ${ageText(server, now)}, ${memoryText(server)}`);
  const more = each.length - MOST_SHOWN;
  return [...each.slice(0, MOST_SHOWN), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

const MOST_SHOWN = 3;

function ageText({ created_at }: ServerRow, now: Date): string {
  return formatAge(now.getTime() - Date.parse(created_at));
}

function memoryText({ memory_bytes }: ServerRow): string {
  return memory_bytes === null ? 'unknown' : formatBytes(memory_bytes);
}
