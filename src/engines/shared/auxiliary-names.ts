import { createHash, randomBytes } from 'node:crypto';
import { UserError } from '../../runtime/errors.ts';

/** Databases of a load beside its destination. Dots and dashes separate them from names that people choose. */
export interface AuxiliaryNames {
  prefix: string;
  shadow: () => string;
  undo: string;
  base: string;
  spare: string;
}

const LONGEST_SUFFIX = '.tool-new-00000000'.length;
const DIGEST_LENGTH = 16;

export interface NameLimit {
  most: number;
  lengthOf: (text: string) => number;
}

export function auxiliaryNamesWithin({ most, lengthOf }: NameLimit, destination: string): AuxiliaryNames {
  const room = most - LONGEST_SUFFIX;
  const base =
    lengthOf(destination) <= room
      ? destination
      : `${cut(destination, { most: room - DIGEST_LENGTH - 1, lengthOf })}-${digest(destination)}`;
  const prefix = `${base}.tool-new-`;
  return {
    prefix,
    shadow: () => `${prefix}${randomBytes(4).toString('hex')}`,
    undo: `${base}.tool-undo`,
    base: `${base}.tool-base`,
    spare: `${base}.tool-spare`,
  };
}

/** Reports whether `shadow` may have made the name. */
export function isShadowName(name: string, prefix: string): boolean {
  return parseShadowName(name)?.prefix === prefix;
}

/** Parses a name that `shadow` may have made; `destination` is null when the name was too long to contain it. */
export function parseShadowName(name: string): { prefix: string; destination: string | null } | null {
  const [, prefix, base] = /^((.+)\.tool-new-)[0-9a-f]{8}$/s.exec(name) ?? [];
  if (prefix === undefined || base === undefined) return null;
  return { prefix, destination: CUT.test(base) ? null : base };
}

/** End of a destination's name that `cut` and `digest` have shortened. */
const CUT = new RegExp(`-[0-9a-f]{${DIGEST_LENGTH}}$`);

function cut(text: string, { most, lengthOf }: NameLimit): string {
  let kept = '';
  for (const character of text) {
    if (lengthOf(kept + character) > most) break;
    kept += character;
  }
  return kept;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_LENGTH);
}

export function baseNameTaken(name: string, destination: string): UserError {
  return new UserError(
    'database_name_taken',
    `The database "${name}" exists, and is not a base copy or spare of "${destination}"`,
    { hint: 'Rename or drop it: the base copy and the spare need their names.' },
  );
}

export function undoNameTaken(name: string, destination: string): UserError {
  return new UserError(
    'database_name_taken',
    `The database "${name}" exists, and is not an undo copy of "${destination}"`,
    { hint: 'Nothing was changed. Rename or drop it, or pass --no-undo: the undo copy needs this name.' },
  );
}
