// Pages without a connection: the service worker keeps some pages. What waits to be sent is kept here; later.js, which
// is loaded when it is needed, sends it. This script runs before the forms of the page are there, so that none is
// sent without it.
'use strict'
{
const { old, account, waits } = document.body.dataset
const language = document.documentElement.lang
const notice = document.getElementById('connection')

// What waits. Each mark and each answer has a name in the storage of this phone that no other has, so two tabs
// never write the same one, and what the server has is removed and nothing else.
const memory = new Map() // where the browser blocks storage, until the page is closed
const all = () => {
  const found = [...memory]
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith('waits ')) found.push([key, JSON.parse(localStorage.getItem(key))])
  } catch { /* memory has them */ }
  return found.filter(([, value]) => value).map(([key, value]) => ({ ...value, key })).sort((a, b) => a.at - b.at)
}
const own = () => account ? all().filter(({ key }) => key.startsWith(`waits ${account} `)) : []
const put = (item) => {
  const { key = `waits ${account} ${item.at} ${Math.random().toString(36).slice(2)}`, ...value } = item
  try { localStorage.setItem(key, JSON.stringify(value)) } catch { memory.set(key, value) }
  return { key, ...value }
}
const remove = ({ key }) => {
  memory.delete(key)
  try { localStorage.removeItem(key) } catch { /* memory had it */ }
}
// A mark is sent after Save was pressed. Without a mark there is only a note.
const sendable = (item) => item.saved && item.mark && !item.told
const answering = (item) => item.action && !item.told

// The notice says what waits as soon as the page shows. later.js adds the rest.
const texts = { ...notice?.dataset }
const text = (key, n = 0) => (n === 1 && texts[key + 'One'] || texts[key] || '').replace('%n', n.toLocaleString(language + '-IN'))
const line = (words, ...parts) => {
  const p = document.createElement('p')
  p.append(words, ...parts.flatMap((part) => [' ', part]))
  notice.append(p)
}
const show = () => {
  if (!notice) return
  const items = own()
  const marks = items.filter(sendable).length
  const any = marks || items.some(answering)
  const away = waiting.unreachable || !navigator.onLine
  notice.replaceChildren()
  if (marks) line(text('waits', marks))
  if (old) line(text('old').replace('%t', new Date(old).toLocaleTimeString(language + '-IN', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })))
  if ((old || away) && any && !memory.size) line(text('kept'))
  waiting.more(items, any, away)
  notice.hidden = !notice.firstChild
}
const changed = () => { show(); document.dispatchEvent(new Event('waits')) }

// Without later.js what waits stays here, and the script is tried again.
let loaded
const load = async () => {
  if (waiting.send) return waiting
  loaded ||= new Promise((onload, onerror) => document.head.append(Object.assign(document.createElement('script'), { src: waits, onload, onerror })))
    .catch((error) => {
      loaded = null
      waiting.unreachable = true
      changed()
      setTimeout(look, 30000)
      throw error
    })
  await loaded
  return waiting
}
const parsed = new Promise((go) => document.addEventListener('readystatechange', go, { once: true }))
const waiting = window.waiting = { memory, all, own, put, remove, sendable, answering, texts, text, line, changed, load, parsed, unreachable: false, more () {} }

const stored = () => { try { return sessionStorage.sent || all().length } catch { return memory.size } }
const look = () => { if (old || !navigator.onLine || stored()) load().then(({ send }) => send(), () => {}) }
if (account) {
  show()
  look()
  addEventListener('offline', () => { changed(); look() })
  addEventListener('online', () => { if (!waiting.send) look() })
  let due = 0 // another tab may change hundreds at once
  addEventListener('storage', ({ key }) => {
    if (key && !key.startsWith('waits ')) return
    load().catch(() => {})
    due ||= setTimeout(() => { due = 0; changed() }, 50)
  })
  // The back button may show a page from the memory of the browser.
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    changed()
    look()
  })
}

// A form with data-later is the whole answer: a later one to the same address replaces it, and it may arrive twice.
// It is kept before anything else happens: the page may go at any time.
const keepAnswer = (form, submitter) => {
  const action = form.getAttribute('action')
  const earlier = own().filter((item) => item.action === action)
  const item = put({ action, body: new URLSearchParams(new FormData(form, submitter)).toString(), page: location.pathname, at: Date.now() })
  earlier.forEach(remove)
  for (const other of form.querySelectorAll('[aria-pressed]')) other.setAttribute('aria-pressed', other === submitter)
  return item
}
// A form with data-ends asks about what waits, and every other form needs the connection now.
let passing = null
document.addEventListener('submit', async (event) => {
  const { target: form, submitter } = event
  if (form === passing || event.defaultPrevented || form.getAttribute('method') !== 'post' || !account) return
  const later = 'later' in form.dataset
  if (!later && !('ends' in form.dataset && stored()) && navigator.onLine && !old) return
  event.preventDefault()
  event.stopImmediatePropagation()
  const item = later && keepAnswer(form, submitter)
  if (!await load().then(({ mayGo }) => mayGo(form, submitter, item), () => !item || memory.size)) return
  if (item) remove(item)
  passing = form
  form.requestSubmit(submitter)
  passing = null
})

document.addEventListener('DOMContentLoaded', () => {
  if (document.body.dataset.events && 'serviceWorker' in navigator) {
    navigator.serviceWorker.register('/service-worker.js').catch(() => {})
    // Today keeps the sheets of the day and the roster before the coach stands where there is no connection.
    const links = location.pathname === '/coach' ? document.querySelectorAll('main a[href*="/attendance/"], nav a[href="/coach/players"]') : []
    const paths = [location.pathname, ...[...links].map((link) => link.pathname)]
    if (navigator.onLine && !old) navigator.serviceWorker.ready.then(({ active }) => active.postMessage({ paths, language }))
  }
})
}
