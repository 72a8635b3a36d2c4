import * as v from 'valibot';

const LONGEST = 200;

const text = (description: string) =>
  v.pipe(v.string(), v.minLength(1), v.maxLength(LONGEST), v.description(description));

export const target = text('Name of a target');

/** Never a path: an index or an id. */
export const snapshot = v.pipe(
  v.string(),
  v.regex(/^(?:latest|[0-9a-z-]{1,64})$/),
  v.description('Index (0 is the newest), "latest", or id of a snapshot'),
);

export const branch = text('Name of a branch');

export const from = text('Takes the present state of this branch of your own instead of the base copy');

export const branches = v.pipe(v.array(branch), v.minLength(1), v.maxLength(20), v.description('Names of branches'));

export const onlyTables = v.pipe(
  v.array(text('schema.table, * matches any characters')),
  v.minLength(1),
  v.maxLength(100),
  v.description('Replaces only the rows of these tables, in the present destination'),
);

export const save = text('Name of a save; default: the time');

export const point = text(
  'Name or index of a save of yours (0 is the newest), or "load": the base copy. Default: the newest save',
);

export const note = text('A note to keep with the snapshot or save');

export const row = v.pipe(
  v.string(),
  v.regex(/^[^:]+:.+$/),
  v.maxLength(1000),
  v.description('schema.table:key, the key of several columns separated by commas'),
);

const integer = (least: number, most: number, description: string) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(description));

export const offset = integer(0, 1_000_000, 'Entries to skip');
export const port = integer(1, 65_535, 'Port of a server of this session');
export const count = integer(1, 16, 'Creates NAME_1 to NAME_n');

export const token = v.pipe(
  v.string(),
  v.maxLength(100),
  v.description('The token that the plan has returned. It counts once, for exactly that plan'),
);

/** In bytes, and in characters of an argument. */
export const LARGEST_SQL = 512 * 1024;

export const sql = v.pipe(v.string(), v.minLength(1), v.maxLength(LARGEST_SQL), v.description('Statements of SQL'));

/** Never a path that leaves the folder; where links lead is checked when it is opened. */
export const sqlFile = v.pipe(
  text('Path of a .sql file, relative to the folder of the configuration'),
  v.regex(/^(?!.*\.\.(?:\/|$))[^/\\\0][^\\\0]*\.sql$/),
);
