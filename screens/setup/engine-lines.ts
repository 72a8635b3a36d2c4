import type { Span } from '../../components/line.tsx';
import type { Glyphs } from '../../components/theme.ts';
import type { SetupFound } from './setup-route.ts';

const ENGINES: { id: string; name: string; without: string; works: boolean }[] = [
  {
    id: 'postgres',
    name: 'PostgreSQL',
    without: 'no client programs: apt-get install postgresql-client, or brew install libpq',
    works: false,
  },
  { id: 'mysql', name: 'MySQL, MariaDB', without: 'nothing to install, but mariadb-client for SQL files', works: true },
];

export function engineLines({ engines }: SetupFound, glyphs: Glyphs): Span[] {
  return ENGINES.map(({ id, name, without, works }): Span => {
    const tools = engines?.find((engine) => engine.id.startsWith(`${id}-`))?.tools;
    if (!tools) return { text: `${glyphs.pending} ${name}: looking for client programs`, tone: 'dim' };
    const [newest] = tools;
    if (newest) return { text: `${glyphs.good} ${name}: ${newest.name} ${newest.version}`, tone: 'good' };
    const mark = works ? glyphs.good : glyphs.caution;
    return { text: `${mark} ${name}: ${without}`, tone: works ? 'good' : 'caution' };
  });
}
