import * as v from 'valibot';

const positions = v.array(v.string());

const upstreamSchema = v.strictObject({ server_id: v.number(), port: v.number(), host: v.string(), positions });

const primarySchema = v.strictObject({
  server_id: v.number(),
  port: v.number(),
  hosts: v.array(v.string()),
  positions,
});

/**
 * Signs that distinguish a database from all others. `servers`: the server and all with the same data (cluster, group,
 * primary); `databases`: the database on it. Every sign begins with its kind: `system:7312…`, `oid:16400`, `name:app`.
 */
export const identitySchema = v.strictObject({
  servers: v.array(v.string()),
  databases: v.array(v.string()),
  upstreams: v.optional(v.array(upstreamSchema)),
  primary: v.optional(primarySchema),
});

export type DatabaseIdentity = v.InferOutput<typeof identitySchema>;
type Upstream = v.InferOutput<typeof upstreamSchema>;
type Primary = v.InferOutput<typeof primarySchema>;

/** A sign that changes at each start of the server, and so is not comparable later. */
export const STARTED = 'started:';

export function isSameDatabase(one: DatabaseIdentity, other: DatabaseIdentity): boolean {
  if (!intersect(one.databases, other.databases)) return false;
  return intersect(one.servers, other.servers) || replicates(one, other) || replicates(other, one);
}

export function isLasting({ servers }: DatabaseIdentity): boolean {
  return servers.some((server) => !server.startsWith(STARTED));
}

function replicates({ upstreams = [] }: DatabaseIdentity, { primary }: DatabaseIdentity): boolean {
  return primary !== undefined && upstreams.some((upstream) => isUpstream(upstream, primary));
}

/**
 * MariaDB has no id that replica and primary share, so several signs are combined; a false match only refuses a load.
 */
function isUpstream(upstream: Upstream, primary: Primary): boolean {
  if (upstream.server_id !== primary.server_id) return false;
  const byHost = upstream.port === primary.port && primary.hosts.includes(upstream.host.toLowerCase());
  return (
    byHost || (upstream.positions.length > 0 && upstream.positions.every((position) => reached(primary, position)))
  );
}

function reached({ positions: written }: Primary, position: string): boolean {
  const [domain, server, sequence] = position.split('-').map(Number);
  return written.some((each) => {
    const [otherDomain, otherServer, otherSequence = 0] = each.split('-').map(Number);
    return domain === otherDomain && server === otherServer && (sequence ?? 0) <= otherSequence;
  });
}

function intersect(one: string[], other: string[]): boolean {
  return one.some((each) => other.includes(each));
}
