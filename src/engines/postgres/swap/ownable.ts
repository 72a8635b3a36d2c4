import { FIRST_OWN_OID } from '../catalog/first-own-oid.ts';
import { quoteText } from '../connection/quote.ts';

interface Kind {
  catalog: string;
  owner: string;
  /** Keyword after ALTER. */
  alter: string;
  /** Column of the privileges, what stands after ON in a GRANT, and the kind that `acldefault` takes. */
  grant?: { acl: string; on: string; defaults: string };
  namespace?: string;
  /** The catalog that stands for this kind of object where it is not its own. */
  identifiedBy?: string;
  /** Condition in SQL for the objects that a person made or owns. */
  own?: string;
  where?: string;
}

/** Objects with smaller identifiers were made by initdb. */
const NOT_OF_INITDB = `t.oid >= ${FIRST_OWN_OID}`;

/** Every kind of object in a database that has an owner, in the order in which owners are changed. */
const KINDS: Kind[] = [
  {
    catalog: 'pg_namespace',
    owner: 'nspowner',
    alter: 'SCHEMA',
    own: `(t.oid >= ${FIRST_OWN_OID} OR nspname = 'public')`,
    where: `nspname !~ '^pg_'`,
    grant: { acl: 'nspacl', on: 'SCHEMA', defaults: 'n' },
  },
  {
    catalog: 'pg_language',
    owner: 'lanowner',
    alter: 'LANGUAGE',
    grant: { acl: 'lanacl', on: 'LANGUAGE', defaults: 'l' },
  },
  {
    catalog: 'pg_type',
    owner: 'typowner',
    alter: 'TYPE',
    namespace: 'typnamespace',
    // Types of rows and of arrays follow what they are made for, and so do those of multiranges on newer servers.
    where: `typtype <> 'm' AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
      AND (typrelid = 0 OR EXISTS (SELECT FROM pg_class c WHERE c.oid = typrelid AND c.relkind = 'c'))`,
    grant: { acl: 'typacl', on: 'TYPE', defaults: 'T' },
  },
  {
    catalog: 'pg_proc',
    owner: 'proowner',
    alter: 'ROUTINE',
    namespace: 'pronamespace',
    grant: { acl: 'proacl', on: 'ROUTINE', defaults: 'f' },
  },
  { catalog: 'pg_operator', owner: 'oprowner', alter: 'OPERATOR' },
  { catalog: 'pg_opfamily', owner: 'opfowner', alter: 'OPERATOR FAMILY' },
  { catalog: 'pg_opclass', owner: 'opcowner', alter: 'OPERATOR CLASS' },
  { catalog: 'pg_collation', owner: 'collowner', alter: 'COLLATION' },
  { catalog: 'pg_conversion', owner: 'conowner', alter: 'CONVERSION' },
  { catalog: 'pg_ts_dict', owner: 'dictowner', alter: 'TEXT SEARCH DICTIONARY' },
  { catalog: 'pg_ts_config', owner: 'cfgowner', alter: 'TEXT SEARCH CONFIGURATION' },
  {
    catalog: 'pg_foreign_data_wrapper',
    owner: 'fdwowner',
    alter: 'FOREIGN DATA WRAPPER',
    grant: { acl: 'fdwacl', on: 'FOREIGN DATA WRAPPER', defaults: 'F' },
  },
  {
    catalog: 'pg_foreign_server',
    owner: 'srvowner',
    alter: 'SERVER',
    grant: { acl: 'srvacl', on: 'FOREIGN SERVER', defaults: 'S' },
  },
  {
    catalog: 'pg_class',
    owner: 'relowner',
    alter: 'TABLE',
    namespace: 'relnamespace',
    where: `relkind IN ('r', 'p', 'v', 'm', 'f')`,
    grant: { acl: 'relacl', on: 'TABLE', defaults: 'r' },
  },
  {
    catalog: 'pg_class',
    owner: 'relowner',
    alter: 'SEQUENCE',
    namespace: 'relnamespace',
    where: `relkind = 'S'`,
    grant: { acl: 'relacl', on: 'SEQUENCE', defaults: 's' },
  },
  { catalog: 'pg_statistic_ext', owner: 'stxowner', alter: 'STATISTICS' },
  {
    catalog: 'pg_largeobject_metadata',
    identifiedBy: 'pg_largeobject',
    own: 'true',
    owner: 'lomowner',
    alter: 'LARGE OBJECT',
    grant: { acl: 'lomacl', on: 'LARGE OBJECT', defaults: 'L' },
  },
  { catalog: 'pg_event_trigger', owner: 'evtowner', alter: 'EVENT TRIGGER' },
];

/**
 * A query for every object of the database that a person can own. Identities are qualified and quoted by the server.
 * https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-OBJECT
 */
export const OWNABLE = KINDS.map(
  ({ catalog, owner, alter, grant, namespace, identifiedBy, own = NOT_OF_INITDB, where = 'true' }, rank) => {
    const classid = `${quoteText(identifiedBy ?? catalog)}::regclass`;
    const acl = grant
      ? `coalesce(t.${grant.acl}, acldefault(${quoteText(grant.defaults)}, t.${owner}))`
      : 'NULL::aclitem[]';
    return `
    SELECT ${rank} AS rank, t.oid AS objid, ${quoteText(alter)} AS alter, ${grant ? quoteText(grant.on) : 'NULL'} AS granted_on,
      ${grant ? quoteText(grant.defaults) : 'NULL'} AS defaults, t.${owner} AS owner, ${acl} AS acl,
      ${namespace ? `t.${namespace}` : '0::oid'} AS namespace, i.identity,
      EXISTS (SELECT FROM pg_depend d WHERE d.classid = ${classid} AND d.objid = t.oid AND d.deptype = 'e') AS of_extension,
      t.tableoid = 'pg_class'::regclass AND EXISTS (SELECT FROM pg_depend d WHERE d.classid = ${classid} AND d.objid = t.oid AND d.deptype IN ('a', 'i')
        AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0) AS follows_table
    FROM ${catalog} t, pg_identify_object(${classid}, t.oid, 0) i
    WHERE ${own} AND ${where}`;
  },
).join(' UNION ALL ');

/**
 * A query for objects of the server itself that have privileges: those on which a superuser has granted or revoked
 * something, or those with an identifier of the condition. They have the same identifiers in all databases of a server.
 * Without information_schema, of whose objects the server does not know the first privileges.
 */
export function systemObjects(condition: string | null): string {
  return KINDS.flatMap(({ catalog, owner, grant, namespace, own, where = 'true' }) => {
    if (!grant || own) return [];
    const classid = `${quoteText(catalog)}::regclass`;
    const initially = `SELECT p.initprivs FROM pg_init_privs p WHERE p.classoid = ${classid} AND p.objoid = t.oid AND p.objsubid = 0`;
    const changed = `t.${grant.acl} IS NOT NULL AND t.${grant.acl} IS DISTINCT FROM (${initially})`;
    const schema = namespace ? `t.${namespace}` : 'NULL';
    return `
    SELECT ${quoteText(grant.on)} AS granted_on, t.oid AS objid, i.identity, t.${owner} AS owner,
      coalesce(t.${grant.acl}, acldefault(${quoteText(grant.defaults)}, t.${owner})) AS acl
    FROM ${catalog} t, pg_identify_object(${classid}, t.oid, 0) i
    WHERE t.oid < ${FIRST_OWN_OID} AND ${schema} IS DISTINCT FROM to_regnamespace('information_schema')
      AND ${where} AND ${condition ?? changed}`;
  }).join(' UNION ALL ');
}
