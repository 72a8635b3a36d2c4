/** An error of the server; identified by its SQLSTATE. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  readonly sqlstate: string;

  constructor(message: string, sqlstate: string) {
    super(message);
    this.sqlstate = sqlstate;
  }
}

/** A failed or lost connection; the message is psql's, or in its words. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  /** A server's answer to a connection of our own, which psql would get as well. */
  readonly isFinal: boolean;

  constructor(message?: string, { isFinal = false } = {}) {
    super(message);
    this.isFinal = isFinal;
  }
}
