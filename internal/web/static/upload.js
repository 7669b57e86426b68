// Forms with a file show how much has arrived. Without this script they are plain forms.
'use strict'

const megabyte = 1024 * 1024

// A picture is stored with at most 4,096 pixels a side. A larger one is made smaller before it is sent, and so is a file with more megabytes than
// allowed. A browser that reads HEIC makes a JPEG of it. If the browser cannot do that, the file is sent as it is.
const longest = 4096
async function smaller (chosen, max) {
  const heic = /^image\/hei[cf]/.test(chosen.type)
  if (!chosen.type.startsWith('image/') || chosen.type === 'image/svg+xml') return chosen
  try {
    const bitmap = await createImageBitmap(chosen) // upright
    const scale = Math.min(1, longest / Math.max(bitmap.width, bitmap.height))
    if (scale === 1 && chosen.size <= max && !heic) return chosen
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(bitmap.width * scale))
    canvas.height = Math.max(1, Math.round(bitmap.height * scale))
    const context = canvas.getContext('2d')
    context.imageSmoothingQuality = 'high'
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    bitmap.close()
    const type = chosen.type === 'image/png' ? chosen.type : 'image/jpeg' // a PNG may be transparent
    const blob = await new Promise((resolve) => canvas.toBlob(resolve, type, 0.92))
    return blob && blob.type === type ? blob : chosen
  } catch {
    return chosen
  }
}

// The part is a form, or a section whose fields and button belong to the form of other fields.
function prepare (part) {
  const file = part.querySelector('input[type=file]')
  const { form } = file
  const bar = part.querySelector('progress')
  const status = part.querySelector('output')
  const preview = document.querySelector('[data-preview]')
  const say = (text) => { status.textContent = text }
  let busy = false // not data-busy, which is a text for page.js

  file.addEventListener('change', () => {
    const chosen = file.files[0]
    const tooLarge = chosen && chosen.size > part.dataset.max * megabyte && !chosen.type.startsWith('image/')
    say(tooLarge ? part.dataset.large : '')
    if (!chosen || tooLarge || !preview || !part.contains(preview) || !chosen.type.startsWith('image/')) return
    const reader = new FileReader()
    reader.onload = () => { preview.src = reader.result; preview.hidden = false }
    reader.readAsDataURL(chosen)
  })

  form.addEventListener('submit', async (event) => {
    if (event.defaultPrevented || (part !== form && !part.contains(event.submitter))) return
    if (event.submitter && event.submitter.hasAttribute('formaction') && event.submitter.formEnctype !== 'multipart/form-data') return
    event.preventDefault()
    if (busy) return
    const end = (text) => { busy = false; delete form.dataset.sent; bar.hidden = true; say(text) }
    busy = true
    const data = new FormData(form)
    const chosen = file.files[0]
    if (chosen) {
      const sent = await smaller(chosen, part.dataset.max * megabyte)
      if (sent.size > part.dataset.max * megabyte) return end(part.dataset.large)
      if (sent !== chosen) data.set(file.name, sent, 'picture')
    }
    const request = new XMLHttpRequest()
    request.open('POST', event.submitter && event.submitter.hasAttribute('formaction') ? event.submitter.formAction : form.action)
    request.setRequestHeader('Accept', 'text/html')
    request.upload.onprogress = (e) => {
      if (!e.lengthComputable) return
      bar.value = e.loaded / e.total
      say(e.loaded < e.total ? `${part.dataset.sending} ${Math.round(100 * e.loaded / e.total)} %` : part.dataset.checking)
    }
    request.onload = () => {
      if (request.status < 300) {
        // The response is the page after the redirect. Its address may be this one.
        if (location.href.split('#')[0] === request.responseURL.split('#')[0]) return location.reload()
        return location.assign(request.responseURL)
      }
      const next = new DOMParser().parseFromString(request.responseText, 'text/html').querySelector('main')
      if (!next) return end(part.dataset.failed)
      document.querySelector('main').replaceWith(document.adoptNode(next))
      document.querySelectorAll('[data-upload]').forEach(prepare)
      const faults = document.getElementById('faults')
      if (faults) faults.focus()
    }
    request.onerror = request.ontimeout = () => end(part.dataset.failed)
    bar.value = 0
    bar.hidden = false
    say(part.dataset.sending)
    request.send(data)
  })
}

document.querySelectorAll('[data-upload]').forEach(prepare)
