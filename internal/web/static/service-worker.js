// Keeps the pages that a coach or a family needs without a connection, and shows push messages.
'use strict'

const day = 24 * 3600 * 1000
// Today, the roster, attendance sheets, and the first pages of families. Other pages are never kept.
const kept = /^\/(coach(\/players|\/batches\/[^/]+\/attendance\/[^/]+)?|me\/(guardian|student)(\/players\/[^/]+\/schedule)?)$/
const ends = /^\/(sign-(in|out)|account-(closed|deleted))\b/

addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => {
  const preload = registration.navigationPreload // the request starts while this script does
  event.waitUntil(Promise.all([clients.claim(), preload && preload.enable()]))
})

addEventListener('fetch', (event) => {
  const url = new URL(event.request.url)
  if (url.origin !== location.origin) return
  if (event.request.mode === 'navigate') event.respondWith(page(event, url))
  else if (event.request.headers.has('Touchline-Live') && kept.test(url.pathname)) event.respondWith(load(event, url))
  else if (url.pathname.startsWith('/static/')) event.respondWith(file(event.request, url))
})

// The newest version of a page is kept, without its query: a query says what was just done.
const load = async (event, url) => {
  const response = await event.preloadResponse || await fetch(event.request)
  if (event.request.method === 'GET' && response.ok && !response.redirected && kept.test(url.pathname) && !/^\?(?!done=)/.test(url.search)) {
    const copy = response.clone()
    event.waitUntil(caches.open('pages').then((cache) => cache.put(url.pathname, copy)).catch(() => {})) // storage may be full
  }
  return response
}

// A page names itself and the pages that its reader needs next. The header says that no person opened them.
const hour = 3600 * 1000
const keep = async ({ paths, language }) => {
  const cache = await caches.open('pages')
  const offline = await cache.match('/offline', { ignoreVary: true })
  if (offline?.headers.get('Content-Language') !== language) await cache.add('/offline')
  for (const path of new Set(paths.filter((path) => kept.test(path)))) {
    const old = await cache.match(path, { ignoreVary: true })
    if (old && Date.now() - Date.parse(old.headers.get('Date')) < hour) continue
    const response = await fetch(path, { headers: { Accept: 'text/html', 'Touchline-Live': 'yes' } })
    if (response.ok && !response.redirected) await cache.put(path, response)
  }
}
addEventListener('message', (event) => event.waitUntil(keep(event.data).catch(() => {}))) // the connection ended, or storage is full

const page = async (event, url) => {
  // The pages of an ended session or account are forgotten, and so are those of the account before a sign-in.
  if (ends.test(url.pathname)) event.waitUntil(caches.delete('pages'))
  try {
    return await load(event, url)
  } catch (error) {
    const get = event.request.method === 'GET'
    const old = get && await caches.match(url.pathname, { ignoreVary: true })
    if (old && Date.now() - Date.parse(old.headers.get('Date')) < day) {
      const html = (await old.text()).replace('<body', `<body data-old="${old.headers.get('Date')}"`)
      return new Response(html, { headers: old.headers })
    }
    if (old) await (await caches.open('pages')).delete(url.pathname)
    return await caches.match('/offline', { ignoreVary: true }) || Promise.reject(error)
  }
}

// The name of a file has a hash of its content: an earlier version goes when a new one is kept.
const file = async (request, url) => {
  const cache = await caches.open('files')
  const found = await cache.match(request, { ignoreVary: true })
  if (found) return found
  const response = await fetch(request)
  if (response.ok) {
    const name = (path) => path.replace(/\.[0-9a-f]+\./, '.')
    const keys = await cache.keys()
    await Promise.all(keys.filter((key) => name(new URL(key.url).pathname) === name(url.pathname)).map((key) => cache.delete(key)))
    await cache.put(request, response.clone()).catch(() => {})
  }
  return response
}

addEventListener('push', (event) => {
  const { title, body, lang, url, tag } = event.data.json()
  event.waitUntil(registration.showNotification(title, { body, lang, tag, data: { url } }))
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  const url = new URL(event.notification.data.url || '/', location.origin)
  if (url.origin !== location.origin) return
  event.waitUntil(clients.matchAll({ type: 'window' }).then((open) => {
    const page = open.find((client) => client.url === url.href)
    return page ? page.focus() : clients.openWindow(url.href)
  }))
})
