/** Data, logs of InnoDB and Aria, and the definitions beside tables, each in its place. */
const COPIED = [
  /^(ibdata\d+|undo_?\d+|ib_logfile\d+|mysql\.ibd|aria_log(\.\d{8}|_control)|#innodb_redo\/#ib_redo\d+)$/,
  /^[^/]+\/[^/]+\.(ibd|frm|opt|par|sdi|MA[DI]|MY[DI]|MRG|CS[MV]|ARZ|TR[GN])$/,
];
/** A trigger would run when the program removes the accounts of an image. */
const TRIGGER_OF_SYSTEM = /^mysql\/[^/]+\.TR[GN]$/i;

/**
 * Reports whether a file of a data directory, by its relative path, is left out of an image and of its copies: settings,
 * libraries, keys, the identity of the server, files of replication and those that name other files.
 */
export function isNeverCopied(path: string): boolean {
  return TRIGGER_OF_SYSTEM.test(path) || !COPIED.some((pattern) => pattern.test(path));
}
