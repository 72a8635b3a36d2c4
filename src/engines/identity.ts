import * as v from 'valibot';

/** A replication position: `domain-server-sequence`, as MariaDB writes it. */
const positions = v.array(v.string());

/** A server that a MariaDB replica reads from, as far as the replica knows it. */
const upstreamSchema = v.strictObject({ server_id: v.number(), port: v.number(), host: v.string(), positions });

/** What a MariaDB server with a binary log is to its replicas. */
const primarySchema = v.strictObject({
  server_id: v.number(),
  port: v.number(),
  hosts: v.array(v.string()),
  positions,
});

/**
 * What distinguishes a database from all others, in the server's own words. `servers` are signs of the server and of
 * all that hold the same data (a cluster, a group, the primary of a replica); `databases` are signs of the database on
 * it. Every sign begins with its kind: `system:7312…`, `oid:16400`, `name:app`.
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

/** A sign that changes whenever the server starts, and so says nothing of a server that was seen earlier. */
export const STARTED = 'started:';

/** Whether two identities are of one database: on one server, on a primary and its replica, or in one cluster. */
export function isSameDatabase(one: DatabaseIdentity, other: DatabaseIdentity): boolean {
  if (!intersect(one.databases, other.databases)) return false;
  return intersect(one.servers, other.servers) || replicates(one, other) || replicates(other, one);
}

/** Whether the identity can be compared with one that is read later. */
export function isLasting({ servers }: DatabaseIdentity): boolean {
  return servers.some((server) => !server.startsWith(STARTED));
}

function replicates({ upstreams = [] }: DatabaseIdentity, { primary }: DatabaseIdentity): boolean {
  return primary !== undefined && upstreams.some((upstream) => isUpstream(upstream, primary));
}

/** MariaDB has no number that a replica and its primary share, so the signs are added up; a coincidence only refuses. */
function isUpstream(upstream: Upstream, primary: Primary): boolean {
  if (upstream.server_id !== primary.server_id) return false;
  const byHost = upstream.port === primary.port && primary.hosts.includes(upstream.host.toLowerCase());
  return (
    byHost || (upstream.positions.length > 0 && upstream.positions.every((position) => reached(primary, position)))
  );
}

/** Whether the primary has written what the replica has read of it. */
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
