import { ENGINE_PROFILES } from '../../src/engines/list.ts';
import type { Cell } from '../../src/presentation/shapes/column.ts';
import type { Glyphs } from '../../src/presentation/shapes/glyphs.ts';
import { formatBytes } from '../../src/text/format.ts';
import type { SetupFound, SetupState, SetupStepId } from './step.ts';

/** Why an answer is refused. */
export const REFUSED = {
  empty: 'Requires a value',
  noSchema: 'Select at least one schema',
  host: 'A name or address has no blanks in it',
  path: 'An absolute path begins with /',
  url: 'The URL cannot be read. Clear it (Ctrl-U) to fill in the fields, or encode / ? # in its password',
  port: 'A port is a number from 1 to 65535',
  variable: 'The name of a variable has letters, digits and _, and does not begin with a digit',
};

/** Names the check before the next question. */
export function checkingText(step: SetupStepId): string {
  return `${CHECKING[step] ?? 'Checking'}…`;
}

const BUCKET = 'Testing the bucket: list, put, get, delete; Esc cancels';

const CHECKING: Partial<Record<SetupStepId, string>> = {
  url: 'Connecting to the source; Esc cancels',
  database: 'Connecting to the source; Esc cancels',
  destination: 'Checking the destination; Esc cancels',
  path: 'Testing the folder: list, put, get, delete; Esc cancels',
  credentials: BUCKET,
  secretKey: BUCKET,
  review: 'Writing the file',
};

/** Results of earlier checks that help with a question. */
export function checkedLines({ step, found }: SetupState, glyphs: Glyphs): Cell[] {
  const { source, destination, storage } = found;
  const good = (text: string): Cell[] => [{ text: `${glyphs.good} ${text}`, tone: 'good' }];
  switch (step) {
    case 'file':
    case 'url':
      return engineLines(found, glyphs);
    case 'target':
    case 'schemas':
    case 'destination': {
      if (!source) return [];
      const { server_version, size_bytes } = source;
      return good(`The source is up: version ${server_version ?? 'unknown'}, ${formatBytes(size_bytes ?? 0)}`);
    }
    case 'keep':
    case 'storage':
      if (!destination) return [];
      return destination.exists
        ? good(`The destination exists, ${formatBytes(destination.size_bytes ?? 0)}: each load replaces it`)
        : good(`The destination does not exist yet: the first load creates it`);
    case 'review':
      return storage === null ? [] : good(`${storage}: list, put, get and delete work`);
    default:
      return [];
  }
}

function engineLines({ engines }: SetupFound, glyphs: Glyphs): Cell[] {
  return ENGINE_PROFILES.map(({ id, products, withoutPrograms: { works, advice } }): Cell => {
    const name = products.join(', ');
    const tools = engines?.find((engine) => engine.id.startsWith(`${id}-`))?.tools;
    if (!tools) return { text: `${glyphs.pending} ${name}: looking for client programs`, tone: 'dim' };
    const [newest] = tools;
    if (newest) return { text: `${glyphs.good} ${name}: ${newest.name} ${newest.version}`, tone: 'good' };
    const mark = works ? glyphs.good : glyphs.caution;
    return { text: `${mark} ${name}: ${advice}`, tone: works ? 'good' : 'caution' };
  });
}
