package picture

import "encoding/binary"

// maxEXIF bounds the bytes of EXIF data that are read for the orientation.
const maxEXIF = 64 << 10

// orientation returns the EXIF orientation, 1 to 8, in the first directory of tiff;
// 1, as stored, if it has none.
func orientation(tiff []byte) int {
	const upright, tagOrientation, typeShort, entry = 1, 0x0112, 3, 12
	if len(tiff) < 8 {
		return upright
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return upright
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return upright
	}
	directory := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(directory) < entry {
			break
		}
		if order.Uint16(directory) == tagOrientation && order.Uint16(directory[2:]) == typeShort {
			if value := int(order.Uint16(directory[8:])); value >= 1 && value <= 8 {
				return value
			}
			break
		}
		directory = directory[entry:]
	}
	return upright
}
