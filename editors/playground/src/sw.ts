/** The service worker: keeps all files, so that the page works without a network. */

declare const FILES: string[];
declare const VERSION: string;

const worker = self as unknown as ServiceWorkerGlobalScope;

const NAME = `gram-playground-${VERSION}`;

worker.addEventListener("install", (event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  const isOld = (name: string) => name.startsWith("gram-playground-") && name !== NAME;
  const remove = async () => {
    for (const name of (await caches.keys()).filter(isOld)) await caches.delete(name);
    await worker.clients.claim();
  };
  event.waitUntil(remove());
});

worker.addEventListener("fetch", (event) => {
  const answer = async () => {
    const cache = await caches.open(NAME);
    return (await cache.match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  };
  if (event.request.method === "GET") event.respondWith(answer());
});

export {};
