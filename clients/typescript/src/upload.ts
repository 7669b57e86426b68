import { ConnectionError } from "./problem.js";
import { growingWait, sleep, type Transport } from "./transport.js";

/** Options of an upload. */
export interface UploadOptions {
  /** Called with the part of the bytes that was sent, from 0 to 1. A repeated upload begins at 0 again. */
  onProgress?: (part: number) => void;
  signal?: AbortSignal;
}

const attempts = 4;

/**
 * Sends a form. Browsers and React Native report progress with XMLHttpRequest; elsewhere the body is a stream that counts. The
 * upload is repeated with the same Idempotency-Key when the connection breaks: the service stores the file once.
 */
export async function send(transport: Transport, request: Request, form: FormData, options: UploadOptions): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    options.onProgress?.(0);
    try {
      if (options.onProgress && typeof XMLHttpRequest !== "undefined") return await sendByXHR(request, form, options);
      return await transport.once(new Request(request.clone(), await body(request, form, options)));
    } catch (error) {
      if (options.signal?.aborted) throw error;
      if (attempt === attempts) throw new ConnectionError("the upload got no response", { cause: error });
      await sleep(growingWait(attempt), options.signal);
    }
  }
}

async function body(request: Request, form: FormData, options: UploadOptions): Promise<RequestInit> {
  if (!options.onProgress) return { body: form };
  const encoded = await new Response(form).blob();
  let sent = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sent += chunk.byteLength;
      options.onProgress?.(sent / encoded.size);
      controller.enqueue(chunk);
    },
  });
  const headers = new Headers(request.headers);
  headers.set("Content-Type", encoded.type);
  const init = { body: encoded.stream().pipeThrough(counter), headers, duplex: "half" };
  return init as RequestInit;
}

function sendByXHR(request: Request, form: FormData, options: UploadOptions): Promise<Response> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open(request.method, request.url);
    request.headers.forEach((value, name) => xhr.setRequestHeader(name, value));
    xhr.responseType = "text";
    xhr.upload.onprogress = (event) => event.total > 0 && options.onProgress?.(event.loaded / event.total);
    xhr.onload = () => {
      const headers = new Headers();
      for (const name of ["Content-Type", "Retry-After", "X-Trace-Id"]) {
        const value = xhr.getResponseHeader(name);
        if (value) headers.set(name, value);
      }
      resolve(new Response(xhr.responseText || null, { status: xhr.status, headers }));
    };
    xhr.onerror = () => reject(new Error("the connection broke"));
    xhr.onabort = () => reject(options.signal?.reason);
    options.signal?.addEventListener("abort", () => xhr.abort(), { once: true });
    xhr.send(form);
  });
}
