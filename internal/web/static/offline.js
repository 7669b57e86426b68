// Pages without a connection: the service worker keeps some pages, and forms with data-later
// are kept on this phone and sent when the connection is back. It is a module.

const { old } = document.body.dataset
const notice = document.getElementById('connection')
const say = (key, values = {}) => {
  if (!notice) return
  notice.hidden = !key
  notice.textContent = key && Object.entries(values).reduce((text, [name, value]) => text.replace(name, value), notice.dataset[key])
}
const showConnection = () => {
  const from = new Date(old).toLocaleTimeString(document.documentElement.lang, { hour: '2-digit', minute: '2-digit' })
  if (old) say('old', { '%t': from })
  else say(navigator.onLine ? '' : 'offline')
}
showConnection()
addEventListener('offline', showConnection)

// A page without a connection names the pages that were kept.
const list = document.querySelector('[data-kept-pages]')
if (list) {
  caches.open('pages').then(async (cache) => {
    for (const request of await cache.keys()) {
      const { pathname } = new URL(request.url)
      if (pathname === location.pathname || pathname === '/offline') continue
      const page = new DOMParser().parseFromString(await (await cache.match(request)).text(), 'text/html')
      const parts = ['.day-line h1', '.under a'].map((selector) => page.querySelector(selector)?.textContent)
      const link = document.createElement('a')
      link.href = pathname
      link.textContent = [page.title.split(' – ')[0], ...parts].filter(Boolean).join(' · ')
      list.querySelector('ul').appendChild(document.createElement('li')).append(link)
      list.hidden = false
    }
  }).catch(() => {})
}

// Forms that wait, by their address: the last answer counts.
let memory = {} // where the browser blocks storage, until the page is closed
const read = () => { try { return JSON.parse(localStorage.getItem('later')) || {} } catch { return memory } }
const write = (forms) => { memory = forms; try { localStorage.setItem('later', JSON.stringify(forms)) } catch { /* memory has them */ } }
const forget = (action, { at }) => {
  const forms = read()
  if (forms[action]?.at === at) delete forms[action]
  write(forms)
}
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!('later' in form.dataset) || navigator.onLine && !old) return
  const body = new URLSearchParams(new FormData(form, event.submitter)).toString()
  const waits = { body, page: location.pathname, draft: form.dataset.sheet && 'sheet ' + form.dataset.sheet, at: Date.now() }
  write({ ...read(), [form.getAttribute('action')]: waits })
  event.preventDefault()
  event.stopImmediatePropagation()
  for (const button of form.querySelectorAll('[aria-pressed]')) button.setAttribute('aria-pressed', button === event.submitter)
  say('kept')
  if (navigator.onLine) send()
})

// One tab sends at a time. A form of another account is refused by the server, which asks for the account.
const week = 7 * 24 * 3600 * 1000
const sendAll = async () => {
  let shown = ''
  for (const [action, form] of Object.entries(read())) {
    if (Date.now() - form.at > week) { forget(action, form); continue }
    const response = await fetch(action, { method: 'POST', body: new URLSearchParams(form.body), headers: { Accept: 'text/html' } })
    if (response.status >= 500 || response.status === 429) throw response.status
    const url = new URL(response.url)
    if (url.pathname.startsWith('/sign-in')) return say('signIn')
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    forget(action, form)
    const saved = response.ok && !page.getElementById('faults') && !url.searchParams.has('answered')
    try {
      if (saved && form.draft && JSON.parse(localStorage.getItem(form.draft)).changed <= form.at) localStorage.removeItem(form.draft)
    } catch { /* there is no draft */ }
    if (form.page === location.pathname) shown = saved || url.searchParams.has('answered') ? url.href : form.page
    else say(saved ? 'sent' : 'failed')
  }
  if (!shown) return
  history.replaceState(null, '', shown)
  location.reload()
}
let timer = 0
const send = async () => {
  clearTimeout(timer)
  if (!Object.keys(read()).length) return
  try {
    await (navigator.locks ? navigator.locks.request('later', sendAll) : sendAll())
  } catch {
    timer = setTimeout(send, 30000)
  }
}
addEventListener('online', async () => {
  if (!old) showConnection()
  await send()
  if (old) location.reload()
})

if (document.body.dataset.events && 'serviceWorker' in navigator) {
  send()
  navigator.serviceWorker.register('/service-worker.js').catch(() => {})
  // Today keeps the sheets of the day and the roster before the coach stands where there is no connection.
  const links = location.pathname === '/coach' ? document.querySelectorAll('main a[href*="/attendance/"], nav a[href="/coach/players"]') : []
  const paths = [location.pathname, ...[...links].map((link) => link.pathname)]
  const language = document.documentElement.lang
  if (navigator.onLine && !old) navigator.serviceWorker.ready.then(({ active }) => active.postMessage({ paths, language }))
}

// The browser offers to install the pages as an app.
const install = document.querySelector('[data-install]')
if (install) {
  addEventListener('beforeinstallprompt', (event) => {
    event.preventDefault()
    install.hidden = false
    install.querySelector('button').addEventListener('click', () => { event.prompt(); install.hidden = true }, { once: true })
  })
}
