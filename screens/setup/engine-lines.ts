import type { Span } from '../../components/line.tsx';
import type { Glyphs } from '../../components/theme.ts';
import { ENGINE_PROFILES } from '../../src/engines/list.ts';
import type { SetupFound } from './setup-place.ts';

/** The engines as they were found on this machine, a line each. */
export function engineLines({ engines }: SetupFound, glyphs: Glyphs): Span[] {
  return ENGINE_PROFILES.map(({ id, products, withoutPrograms: { works, advice } }): Span => {
    const name = products.join(', ');
    const tools = engines?.find((engine) => engine.id.startsWith(`${id}-`))?.tools;
    if (!tools) return { text: `${glyphs.pending} ${name}: looking for client programs`, tone: 'dim' };
    const [newest] = tools;
    if (newest) return { text: `${glyphs.good} ${name}: ${newest.name} ${newest.version}`, tone: 'good' };
    const mark = works ? glyphs.good : glyphs.caution;
    return { text: `${mark} ${name}: ${advice}`, tone: works ? 'good' : 'caution' };
  });
}
