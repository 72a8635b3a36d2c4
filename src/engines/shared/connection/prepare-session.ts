interface Closable {
  close(): Promise<void>;
}

/** Runs the first statements of a new session, and closes it when one fails. */
export async function prepareSession<Session extends Closable>(
  session: Session,
  work: (session: Session) => Promise<unknown>,
): Promise<Session> {
  try {
    await work(session);
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}
