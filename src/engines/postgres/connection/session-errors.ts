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
  /** The server's answer to an attempt of our own to connect. */
  readonly sqlstate: string | null;

  constructor(message?: string, sqlstate: string | null = null) {
    super(message);
    this.sqlstate = sqlstate;
  }
}
