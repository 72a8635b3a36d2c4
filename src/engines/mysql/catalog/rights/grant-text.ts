import type { Rights } from './rights.ts';

export const TABLE_RIGHTS =
  'SELECT,INSERT,UPDATE,DELETE,CREATE,DROP,REFERENCES,INDEX,ALTER,CREATE VIEW,SHOW VIEW,TRIGGER,DELETE HISTORY'.split(
    ',',
  );

export function grantText(granted: string[], on: string, { account }: Rights): string {
  return `GRANT ${granted.join(', ')} ON ${on} TO ${account}`;
}

export function grantOnDatabase(database: string, right: string, rights: Rights): string {
  const all = new Set([...rights.byPattern(database), ...right.split(', ')]);
  return grantText([...all], `${rights.inGrant(database)}.*`, rights);
}
