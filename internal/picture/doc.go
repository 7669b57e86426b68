// Package picture judges uploaded files by their content and makes safe pictures
// of unsafe ones. It knows nothing of documents or of where bytes are kept.
//
//	info, err := picture.Inspect(spool, spool.Size())    // PDF, JPEG, PNG or WebP, or a *Refusal
//	made, err := picture.Process(ctx, spool, spool.Size(), picture.Options{
//		Sizes: picture.ProfileSizes,
//		Create: func(s picture.Size) (io.Writer, error) { … a fresh blob.Spool … },
//	})
//
// A *Refusal says what is wrong with the file, for the person who sent it; its
// Fault makes the problem of it. Any other error is ours, mostly a fault.Down.
package picture
