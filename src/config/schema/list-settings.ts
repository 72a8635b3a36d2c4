import { settingsSchema } from './settings.ts';
import { type Shape, shapeOf } from './shape.ts';

export interface Setting {
  /** `saves.keep` */
  key: string;
  description: string;
  /** Empty where any value is possible. */
  choices: string[];
}

/** Returns the settings by name, without those of a target or a profile, whose names users choose. */
export function listSettings(): Setting[] {
  return settingsIn(shapeOf(settingsSchema), '');
}

/** One for each command: they are edited together. */
const COMMAND_KEYS = 'keys';

function settingsIn(shape: Shape, path: string): Setting[] {
  if (shape.kind !== 'object') return [];
  return [...shape.keys].flatMap(([name, inner]): Setting[] => {
    const key = path === '' ? name : `${path}.${name}`;
    const own = { key, description: inner.description, choices: inner.kind === 'value' ? inner.choices : [] };
    return inner.kind === 'object' && key !== COMMAND_KEYS ? settingsIn(inner, key) : [own];
  });
}
