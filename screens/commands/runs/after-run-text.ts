export const HELPS = {
  snapshot: 'open the tables of the snapshot that the run made or loaded',
  branches: 'open the branches of the target',
  servers: 'open the servers of the target',
  points: 'open the points to return to',
  target: 'open the snapshots of the target',
};
