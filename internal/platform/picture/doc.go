// Package picture checks uploaded files by their content and converts pictures to
// safe ones. It knows nothing of documents or of storage.
//
//	info, err := picture.Inspect(spool, spool.Size())    // PDF, JPEG, PNG or WebP, or a *FileError
//	result, err := picture.Process(ctx, spool, spool.Size(), picture.Options{
//		Sizes: picture.ProfileSizes,
//		Create: func(s picture.Size) (io.Writer, error) { … a new blob.Spool … },
//	})
//
// A *FileError describes the fault of the file to the person who sent it; its Fault
// method converts it to a fault. Any other error is internal or a fault.Down.
package picture
