import * as v from 'valibot';
import { describe, flag, number, orNull, text } from './fields.ts';
import { snapshotRow } from './results.ts';

export const serverRow = v.object({
  id: text,
  target: text,
  snapshot: describe(text, 'Id of the snapshot of its image.'),
  database: text,
  port: number,
  detached: flag,
  created_at: text,
  memory_bytes: describe(orNull(number), 'Memory of its processes; `null` where the system does not tell.'),
});
export type ServerRow = v.InferOutput<typeof serverRow>;

export const serverList = v.object({ servers: v.array(serverRow) });
export type ServerList = v.InferOutput<typeof serverList>;

export const upPlan = v.object({
  target: text,
  snapshot: snapshotRow,
  product: describe(text, 'Of the server, `MariaDB`.'),
  server_version: text,
  image: describe(v.picklist(['stored', 'shared', 'new']), '`shared`: it is fetched first; `new`: it is made.'),
  port: describe(orNull(number), '`null`: a free one.'),
  detached: flag,
  steps: v.array(text),
});
export type UpPlan = v.InferOutput<typeof upPlan>;

export const upResult = v.object({
  target: text,
  server: text,
  snapshot: text,
  detached: describe(flag, '`false`: it has ended.'),
});
export type UpResult = v.InferOutput<typeof upResult>;

export const downPlan = v.object({
  target: describe(orNull(text), '`null` with `--all`.'),
  servers: v.array(serverRow),
  steps: v.array(text),
});
export type DownPlan = v.InferOutput<typeof downPlan>;

export const downResult = v.object({ stopped: v.array(text) });
export type DownResult = v.InferOutput<typeof downResult>;
