// Sends what waits on this phone: marks of attendance, and answers in forms with data-later. Each waits until the
// server has it. offline.js loads this script when it is needed, and the page without a connection has it.
'use strict'
if (!window.waiting.send) {
const { waiting } = window
const { memory, all, own, put, remove, sendable, answering, text, line, changed, parsed } = waiting
const { old, account } = document.body.dataset
const language = document.documentElement.lang
waiting.unreachable = false
const notice = document.getElementById('connection')

// The other texts are on the page that every phone keeps. It may be in the language of before.
let dialog = null
const readTexts = async () => {
  const parse = async (response) => new DOMParser().parseFromString(await response.text(), 'text/html')
  const kept = await window.caches?.match('/offline', { ignoreVary: true }).catch(() => null)
  let page = kept && await parse(kept)
  if (page?.documentElement.lang !== language) page = await fetch('/offline', { signal: AbortSignal.timeout?.(10000) }).then(parse).catch(() => page)
  Object.assign(waiting.texts, { ...page.getElementById('texts').dataset, ...waiting.texts })
  dialog = document.adoptNode(page.getElementById('ask'))
}

const there = ({ key }) => {
  try { return memory.has(key) || localStorage.getItem(key) !== null } catch { return false }
}

// The notice also says what was sent, and which marks are not saved.
let sent = 0
let answered = ''
try { // what this tab sent before it loaded the page again
  [sent, answered] = JSON.parse(sessionStorage.getItem('sent')) || [0, '']
  sessionStorage.removeItem('sent')
} catch { /* storage may be blocked */ }
let signIn = false
waiting.signInNeeded = () => signIn
const link = (href, words) => Object.assign(document.createElement('a'), { href, textContent: words })
const button = (words, act) => {
  const made = Object.assign(document.createElement('button'), { type: 'button', className: 'link', textContent: words })
  made.addEventListener('click', act)
  return made
}
const sheetsOf = (marks) => [...new Set(marks.map(({ sheet }) => sheet))].filter((path) => path !== location.pathname).map((path) => {
  const date = new Date(path.split('/').pop() + 'T12:00').toLocaleDateString(language + '-IN', { day: 'numeric', month: 'short' })
  return link(path, text('open').replace('%d', date))
})
waiting.more = (items, any, away) => {
  if (!waiting.texts.offline) return
  const refused = items.filter((item) => item.told)
  const others = all().filter(({ key }) => account && key.startsWith(`waits ${account.split(' ')[0]} `) && !key.startsWith(`waits ${account} `))
  const drafts = items.filter((item) => item.sheet && item.sheet !== location.pathname && !item.saved && !item.told)
  if (any && (old || away) && memory.size) line(text('memory'))
  else if (!any && away && !old) line(text(document.querySelector('form[data-later], form[data-sheet]') ? 'offline' : 'alone'))
  if (signIn && any) line(text('signIn'))
  if (sent) line(text('sent', sent))
  if (answered) line(text(answered))
  const listed = document.getElementById('refused') && location.pathname // the sheet says of each why
  const marks = refused.filter((item) => item.sheet && item.sheet !== listed)
  if (marks.length) line(text('refused', marks.length), marks.map(({ name }) => name).join(', '), ...sheetsOf(marks))
  for (const { link: page } of refused.filter((item) => item.link)) line(text('failed'), link(page, text('look')))
  if (drafts.length) line(text('unsent', drafts.length), ...sheetsOf(drafts))
  if (others.length) line(text('others'), button(text('delete'), () => { others.forEach(remove); changed() }))
}

// One tab sends at a time, and only what the account of this page left here. The server checks the account too.
const post = async (path, body, accept) => {
  const response = await fetch(path, { method: 'POST', body: new URLSearchParams(body), headers: { Accept: accept }, signal: AbortSignal.timeout?.(30000) })
  if (response.status >= 500 || response.status === 429) throw response.status
  signIn = response.status === 409 || new URL(response.url).pathname.startsWith('/sign-in')
  return response
}
// The newest mark of each player of a sheet is sent. Its time tells the server which of two marks counts.
const sendSheet = async (sheet, marks) => {
  const newest = new Map(marks.map((item) => [item.player, item]))
  const list = [...newest.values()].map(({ player, mark, note, at }) => ({ player, mark, note, at: new Date(at).toISOString() }))
  const response = await post(sheet + '/marks', { account: account.split(' ')[1], now: new Date().toISOString(), marks: JSON.stringify(list) }, 'application/json')
  if (signIn) return
  let answer
  if (response.ok) answer = await response.json()
  else answer = await ready && { saved: [], refused: Object.fromEntries([...newest.keys()].map((player) => [player, text('failed')])) }
  for (const item of marks) {
    const { player } = item
    const last = newest.get(player)
    const refused = answer.refused[player]
    if (refused && item === last && !item.given) { if (there(item)) put({ ...item, told: refused }) }
    else if (refused || answer.saved.includes(player)) remove(item)
  }
  sent += answer.saved.length
  // The copy of the sheet has the marks too.
  fetch(sheet, { headers: { Accept: 'text/html', 'Touchline-Live': 'yes' } }).catch(() => {})
}
const sendAnswer = async (item) => {
  const response = await post(item.action, item.body, 'text/html')
  if (signIn) return ''
  const url = new URL(response.url)
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const saved = response.ok && response.redirected && !page.getElementById('faults') && !url.searchParams.has('answered')
  const shown = response.redirected ? url.pathname + url.search : item.page
  if (saved) answered = 'answered'
  if (saved || item.page === location.pathname) remove(item)
  else if (there(item)) put({ ...item, told: true, link: shown })
  return item.page === location.pathname ? response.redirected ? url.href : shown : ''
}
const sendAll = async () => {
  let next = ''
  for (const sheet of new Set(own().filter(sendable).map((item) => item.sheet))) {
    await sendSheet(sheet, own().filter((item) => item.sheet === sheet && sendable(item)))
    if (signIn) return ''
    const left = own().filter((item) => item.sheet === sheet)
    if (sheet === location.pathname && left.every((item) => item.told)) next = left.length ? sheet : sheet + '?done=saved'
  }
  for (const item of own().filter(answering)) {
    next = await sendAnswer(item) || next
    if (signIn) return ''
  }
  return next
}
// What the person opens goes first: loading this page again would take its place. That holds for 10 s and until
// the next tap, because a tap on a phone number or a file stays on this page.
let leftAt = 0
addEventListener('click', () => { leftAt = 0 }, true)
addEventListener('beforeunload', () => { leftAt = Date.now() })
const stays = () => Date.now() - leftAt > 10000
const reload = () => { if (stays()) location.reload() }
const waits = () => own().some((item) => sendable(item) || answering(item))
// A page without a connection loads again when another tab has sent all.
let waited = waits()
document.addEventListener('waits', () => {
  if (old && waited && !waits()) reload()
  waited = waits()
})
let timer = 0
const send = async (stay) => {
  clearTimeout(timer)
  if (!waits()) return
  let next = ''
  try {
    next = await (navigator.locks ? navigator.locks.request('waits', sendAll) : sendAll())
    waiting.unreachable = false
    if (old && !signIn) next ||= location.pathname
  } catch {
    waiting.unreachable = true
    timer = setTimeout(() => send(), 30000)
  }
  changed()
  if (!next || stay) return
  try { if (!next.endsWith('?done=saved')) sessionStorage.setItem('sent', JSON.stringify([sent, answered])) } catch { /* the page shows the marks */ }
  if (stays()) location.replace(next)
}
// While the browser says that there is no connection, what waits is tried again later.
waiting.send = async () => {
  if (navigator.onLine) return send()
  clearTimeout(timer)
  timer = setTimeout(() => send(), 30000)
  changed()
}
addEventListener('online', async () => {
  waiting.unreachable = false
  changed()
  await send()
  if (old) reload()
})
const reachable = () => fetch('/service-worker.js', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout?.(10000) }).then(({ status }) => status < 500, () => false)
// What waits ends with the session that made it, after asking.
const ask = async () => {
  await send(true)
  const items = own()
  if (!items.length) return true
  await ready
  if (!dialog || dialog.open) return false
  document.body.append(dialog)
  const marks = items.filter((item) => item.sheet).length
  dialog.querySelector('p').textContent = [marks && text('unsent', marks), marks < items.length && text('unanswered')].filter(Boolean).join(' ')
  // A page behind another tab gets the event close late.
  const answer = await new Promise((choose) => {
    for (const choice of dialog.querySelectorAll('button')) choice.onclick = () => { dialog.close(); choose(choice.value) }
    dialog.oncancel = () => choose('')
    dialog.showModal()
  })
  if (answer !== 'go') return false
  waiting.unreachable = !await reachable()
  changed()
  if (!waiting.unreachable) items.forEach(remove)
  return !waiting.unreachable
}
// mayGo reports whether a form goes to the server now by itself. An answer is sent from where it is kept: without a
// session the page leads to the sign-in, and the answer is sent after it. What was typed into a form that does not go
// stays in the page.
waiting.mayGo = async (form, submitter, item) => {
  if (item) {
    await waiting.send()
    if (signIn && !memory.size) reload()
    return signIn && memory.size
  }
  if ('ends' in form.dataset && own().length) return ask()
  waiting.unreachable = !await reachable()
  if (!waiting.unreachable) return true
  await ready
  changed()
  line(text('refusedForm'))
  notice.scrollIntoView({ block: 'nearest' })
  return false
}

// The page of an answer that was not saved says why.
for (const item of own()) if (item.link === location.pathname + location.search) remove(item)
// A page without a connection names the pages that were kept.
const nameKept = () => {
  const list = document.querySelector('[data-kept-pages]')
  if (!list) return
  window.caches?.open('pages').then(async (cache) => {
    for (const request of await cache.keys()) {
      const { pathname } = new URL(request.url)
      if (pathname === location.pathname || pathname === '/offline') continue
      const page = new DOMParser().parseFromString(await (await cache.match(request)).text(), 'text/html')
      const parts = ['.day-line h1', '.under a'].map((selector) => page.querySelector(selector)?.textContent)
      const words = [page.title.split(' – ')[0], ...parts].filter(Boolean).join(' · ')
      const link = document.createElement('a')
      link.href = pathname
      link.textContent = words
      list.querySelector('ul').appendChild(document.createElement('li')).append(link)
      list.hidden = false
    }
  }).catch(() => {})
}
parsed.then(nameKept)

// The answers that wait are the pressed ones.
const press = () => {
  for (const { action, body } of own().filter(answering)) {
    const values = new URLSearchParams(body)
    for (const button of document.querySelectorAll(`form[action="${action}"] [aria-pressed]`)) button.setAttribute('aria-pressed', values.get(button.name) === button.value)
  }
}
document.addEventListener('waits', press)

const ready = readTexts().catch(() => {}).then(() => parsed).then(() => { changed(); return true })
}
