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
  else if (url.pathname.startsWith('/static/')) event.respondWith(file(event.request))
})

// The files of a page are kept before the page, so that a kept page never lacks one. A file goes when no kept
// page names it: after a release, the pages of the day before still name the earlier files. One page is kept at
// a time: its files must not go before it is there.
const filesOf = (html) => new Set(html.match(/\/static\/[\w.-]+/g))
const file = async (request) => {
  const cache = await caches.open('files')
  const found = await cache.match(request, { ignoreVary: true })
  if (found) return found
  const response = await fetch(request)
  if (response.ok) await cache.put(request, response.clone()).catch(() => {})
  return response
}
const keepFiles = async (html) => {
  const cache = await caches.open('files')
  let added = false
  for (const path of filesOf(html)) {
    if (await cache.match(path, { ignoreVary: true })) continue
    await cache.add(path)
    added = true
  }
  return added
}
const dropFiles = async () => {
  const [pages, files] = await Promise.all([caches.open('pages'), caches.open('files')])
  const named = new Set()
  for (const request of await pages.keys()) {
    const response = await pages.match(request, { ignoreVary: true })
    if (response) for (const path of filesOf(await response.text())) named.add(path)
  }
  for (const request of await files.keys()) if (!named.has(new URL(request.url).pathname)) await files.delete(request)
}
let work = Promise.resolve()
const forgetPages = () => { work = work.then(() => Promise.all([caches.delete('pages'), caches.delete('push')])); return work }
const keepPage = (path, response) => {
  work = work.then(async () => {
    const added = await keepFiles(await response.clone().text())
    await (await caches.open('pages')).put(path, response)
    if (added) await dropFiles()
  }).catch(() => {}) // the connection ended, or storage is full
  return work
}

// fresh loads a page for its copy. The header says that no person opened it.
const fresh = async (path) => {
  const response = await fetch(path, { headers: { Accept: 'text/html', 'Touchline-Live': 'yes' } })
  if (response.ok && !response.redirected) await keepPage(path, response)
}

// The newest version of a page is kept, without what its query says was just done.
const load = async (event, url) => {
  const response = await event.preloadResponse || await fetch(event.request)
  if (event.request.method === 'GET' && response.ok && !response.redirected && kept.test(url.pathname)) {
    if (!url.search) event.waitUntil(keepPage(url.pathname, response.clone()))
    else if (url.search.startsWith('?done=')) event.waitUntil(fresh(url.pathname).catch(() => {}))
  }
  return response
}

// A page names itself and the pages that its reader needs next.
const hour = 3600 * 1000
const keep = async ({ paths, language }) => {
  const cache = await caches.open('pages')
  const offline = await cache.match('/offline', { ignoreVary: true })
  if (offline?.headers.get('Content-Language') !== language || Date.now() - Date.parse(offline.headers.get('Date')) > hour) await Promise.all([keepPage('/offline', await fetch('/offline')), renew().catch(() => {})])
  for (const path of new Set(paths.filter((path) => kept.test(path)))) {
    const old = await cache.match(path, { ignoreVary: true })
    if (old && Date.now() - Date.parse(old.headers.get('Date')) < hour) await keepFiles(await old.text())
    else await fresh(path)
  }
}
addEventListener('message', (event) => event.waitUntil(keep(event.data).catch(() => {}))) // the connection ended, or storage is full

const page = async (event, url) => {
  let response, failed
  try {
    response = await load(event, url)
    // The pages of an ended session or account are forgotten, and so are those of the account before a sign-in.
    if (ends.test(url.pathname)) event.waitUntil(forgetPages())
    if (url.pathname.endsWith('/settings/push/end')) event.waitUntil(caches.delete('push')) // the person has ended it
    if (![502, 503, 504].includes(response.status)) return response
  } catch (error) {
    failed = error
  }
  const get = event.request.method === 'GET'
  const old = get && await caches.match(url.pathname, { ignoreVary: true })
  if (old && Date.now() - Date.parse(old.headers.get('Date')) < day) return edited(old, '<body', `<body data-old="${old.headers.get('Date')}"`)
  if (old) await (await caches.open('pages')).delete(url.pathname)
  if (response) return response
  const offline = await caches.match('/offline', { ignoreVary: true })
  if (!offline) throw failed
  return get ? offline : edited(offline, /<template data-sent>(.*)<\/template>/, '<p class="notice">$1</p>')
}
const edited = async (page, text, by) => new Response((await page.text()).replace(text, by), { headers: page.headers })

// A browser can replace its push subscription, or lose it, and a push service can end it. Each session that had one gets the new one: the pages of
// settings say what the server has, and the cache says which sessions had one here. A session without one stays without. If there is no new one, the
// person is told.
const renew = async () => {
  if (!registration.pushManager || Notification.permission !== 'granted') return
  const had = await caches.open('push')
  const sessions = []
  for (const path of ['/coach/settings', '/me/guardian/settings', '/me/student/settings']) {
    const settings = await fetch(path, { headers: { Accept: 'text/html', 'Touchline-Live': 'yes' }, redirect: 'manual' })
    const html = await settings.text()
    const [, key] = html.match(/data-(?:key|push)="(.+?)"/) || []
    if (!settings.ok || !key) continue
    const [, stored, names] = html.match(/data-endpoint="(.+?)" data-names="(\w*)"/) || []
    const earlier = await had.match(path)
    if (!stored && !earlier) continue
    const show_names = stored ? names : await earlier.text()
    await had.put(path, new Response(show_names))
    const [, account] = html.match(/name="account" value="([\w-]+)"/)
    const [, lost, lang] = html.match(/data-lost="(.+?)" lang="([\w-]+)"/) || []
    sessions.push({ path, key, stored: stored && decodeURIComponent(stored), show_names, account, lost, lang })
  }
  if (!sessions.length) return
  const { pushManager } = registration
  let subscription = await pushManager.getSubscription()
  if (subscription && sessions.some(({ stored }) => !stored)) {
    await subscription.unsubscribe() // the push service has ended it
    subscription = null
  }
  try {
    subscription ||= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: sessions[0].key })
  } catch {
    for (const { path, lost, lang } of sessions) {
      if (!lost) continue
      await had.delete(path)
      await registration.showNotification(lost, { lang, tag: 'push', data: { url: path + '#push' } })
    }
    return
  }
  const { endpoint, keys } = subscription.toJSON()
  for (const { path, stored, show_names, account } of sessions) {
    if (endpoint !== stored) await fetch(path + '/push', { method: 'POST', body: new URLSearchParams({ account, endpoint, ...keys, show_names }), redirect: 'manual' })
  }
}
addEventListener('pushsubscriptionchange', (event) => event.waitUntil(renew()))

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
