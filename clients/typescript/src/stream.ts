/** One server-sent event. */
export interface ServerEvent {
  event: string;
  id: string | undefined;
  data: string;
}

/** The service sends a comment every 20 seconds. After this silence the connection is lost. */
export const silence = 45_000;

/**
 * Reads the events of a response (the event stream format of the HTML standard). It ends when the stream ends, and throws after
 * 45 seconds without a byte.
 */
export async function* readEvents(response: Response): AsyncGenerator<ServerEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let rest = "";
    let event = "";
    let id: string | undefined;
    let data: string[] = [];
    for (;;) {
      const { done, value } = await withTimeout(reader.read());
      if (done) return;
      rest += value;
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop()!;
      for (const line of lines) {
        if (line === "") {
          if (data.length > 0) yield { event: event || "message", id, data: data.join("\n") };
          event = "";
          data = [];
          continue;
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "event") event = text;
        else if (field === "id") id = text;
        else if (field === "data") data.push(text);
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // the connection may be gone
  }
}

function withTimeout<T>(read: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no byte for ${silence / 1000} seconds`)), silence);
  });
  return Promise.race([read, timeout]).finally(() => clearTimeout(timer));
}
