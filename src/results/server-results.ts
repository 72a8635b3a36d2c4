import * as v from 'valibot';
import { describe, flag, number, optional, orNull, text } from './fields.ts';
import { snapshotRow } from './results.ts';
import { serverRow } from './running-servers.ts';

export const serverList = v.object({ servers: v.array(serverRow) });
export type ServerList = v.InferOutput<typeof serverList>;

export const upPlan = v.object({
  target: text,
  snapshot: snapshotRow,
  product: describe(text, 'Of the server, `MariaDB`.'),
  server_version: text,
  database: text,
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
  detached: flag,
  url: optional(describe(text, 'Without password; absent where the server has ended.')),
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
