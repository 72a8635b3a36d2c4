import * as v from 'valibot';
import { describe, flag, number, orNull, text } from './fields.ts';

export const serverRow = v.object({
  id: text,
  target: text,
  snapshot: describe(text, 'Id of the snapshot of its image.'),
  database: text,
  url: describe(text, 'Without password.'),
  port: number,
  detached: flag,
  created_at: text,
  memory_bytes: describe(orNull(number), 'Memory of its processes; `null` where the system does not tell.'),
});
export type ServerRow = v.InferOutput<typeof serverRow>;

/** On this machine. */
export const serverFiles = v.object({
  images: number,
  servers: number,
  size_bytes: describe(number, 'Blocks that files share count for each.'),
});
export type ServerFiles = v.InferOutput<typeof serverFiles>;
