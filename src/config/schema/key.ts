import * as v from 'valibot';
import { type Traits, traits } from './traits.ts';

interface KeyFacts extends Traits {
  example?: unknown;
}

/** The schema of a key, with what the reference page, the example file and the editor tell of it. */
export function key<Schema extends v.GenericSchema>(schema: Schema, description: string, facts: KeyFacts = {}) {
  const { example, ...of } = facts;
  const described = v.pipe(schema, v.description(description), traits(of));
  return example === undefined ? described : v.pipe(described, v.examples([example]));
}

export function optionalKey<Schema extends v.GenericSchema>(schema: Schema, description: string, facts?: KeyFacts) {
  return v.exactOptional(key(schema, description, facts));
}
